package sweep

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"sweep/internal/matrix"
)

// container reads where servers live. What does not fit together is said once
// the whole file is known, since axes have a say in it; see checkContainer.
func (d *decoder) container(n *yaml.Node) {
	c, at := &d.spec.Container, &d.spec.places
	at.container = pos(n)
	before := len(d.problems)
	d.containerFields(n, "container", c, at)
	d.containerBroken = len(d.problems) > before
}

func (d *decoder) containerFields(n *yaml.Node, what string, c *Container, at *containerPlaces) {
	name := func(into *string, at *matrix.Pos) func(key, v *yaml.Node) {
		return func(key, v *yaml.Node) {
			*at = pos(key)
			*into, _ = d.containerName(v, key.Value)
		}
	}
	d.object(n, what, []field{
		{key: "runtime", read: func(_, v *yaml.Node) {
			at.runtime = pos(v)
			runtime, ok := d.text(v, "runtime")
			switch {
			case !ok:
			case slices.Contains(runtimes, runtime):
				c.Runtime = runtime
			default:
				d.problem(v, "it is one of process, incus, lxc, pct, docker", "there is no runtime %s", quote(runtime))
			}
		}},
		{key: "instance", read: name(&c.Instance, &at.instance)},
		{key: "image", read: name(&c.Image, &at.image)},
		{key: "copy-of", read: name(&c.CopyOf, &at.copyOf)},
		{key: "config", read: func(key, v *yaml.Node) {
			at.config = pos(key)
			c.Config = d.words(v, "config")
		}},
		{key: "devices", read: func(key, v *yaml.Node) {
			at.devices = pos(key)
			entries, _ := d.entries(v, "devices")
			for _, e := range entries {
				if !d.named(e.key, e.key.Value, "a device", fileName) {
					continue
				}
				if c.Devices == nil {
					c.Devices = map[string]map[string]string{}
				}
				c.Devices[e.key.Value] = d.words(e.value, "the device "+e.key.Value)
			}
		}},
	})
}

// containerName reads the name of an instance or an image. It becomes a word of
// a command line and a part of a URL.
func (d *decoder) containerName(n *yaml.Node, key string) (string, bool) {
	name, ok := d.text(n, key)
	if !ok {
		return "", false
	}
	if key == "image" {
		if name == "" || len(name) > 255 || strings.HasPrefix(name, "-") || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
			d.problem(n, "for example `image: images:debian/13`", "image cannot be %s", quote(name))
			return "", false
		}
		return name, true
	}
	return name, d.named(n, name, key, fileName)
}

// words reads a map of texts, in words that are not sweep's own.
func (d *decoder) words(n *yaml.Node, what string) map[string]string {
	entries, ok := d.entries(n, what)
	if !ok {
		return nil
	}
	all := make(map[string]string, len(entries))
	for _, e := range entries {
		if key := e.key.Value; key == "" || len(key) > 4*maxName || strings.HasPrefix(key, "-") || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' || r == '=' }) {
			d.problem(e.key, "letters, digits and punctuation, without spaces and =", "%s cannot have the key %s", what, quote(key))
			continue
		}
		if text, ok := d.text(e.value, quote(e.key.Value)+" of "+what); ok {
			all[e.key.Value] = text
		}
	}
	return all
}

package sweep

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"sweep/internal/matrix"
)

// flags reads a map of flags.
func (d *decoder) flags(n *yaml.Node, what string) []matrix.Setting {
	return d.settings(n, what, nil)
}

// env reads a map of variables.
func (d *decoder) env(n *yaml.Node, what string) []matrix.Setting {
	entries, _ := d.entries(n, what)
	var settings []matrix.Setting
	for _, e := range entries {
		if !d.envName(e.key) {
			continue
		}
		if v, ok := d.envValue(e.value, e.key.Value); ok {
			settings = append(settings, matrix.Setting{Target: matrix.Env, Name: e.key.Value, Value: v, Pos: pos(e.key)})
		}
	}
	return settings
}

// bundle reads what goes together on one axis value, or on top of an include:
// flags, and beside them the keys env, command, image and instance.
func (d *decoder) bundle(n *yaml.Node, what string) []matrix.Setting {
	var origin *yaml.Node // the key that names the container
	return d.settings(n, what, func(e entry) ([]matrix.Setting, bool) {
		switch e.key.Value {
		case "env":
			return d.env(e.value, "env of "+what), true
		case "command":
			words, ok := d.command(e.value, "command of "+what)
			if !ok {
				return nil, true
			}
			return []matrix.Setting{{Target: matrix.Command, Value: matrix.Value{Kind: matrix.Words, Words: words}, Pos: pos(e.key)}}, true
		case "image", "instance":
			return d.origin(e, what, &origin), true
		case "flags":
			d.problem(e.key, "write the flags themselves: {tp-size: 8, env: {…}}", "%s holds flags without the key flags around them", what)
			return nil, true
		case "secrets", "env-file", "ready", "base-port":
			d.problem(e.key, "move it to server, where it is the same for all", "%s is not part of %s", e.key.Value, what)
			return nil, true
		case "runtime", "copy-of", "devices", "container":
			d.problem(e.key, "move it to container; image and instance can differ here", "%s is not part of %s", e.key.Value, what)
			return nil, true
		}
		return nil, false
	})
}

// origin reads the image or the instance that a bundle takes its server to. One
// server has one container.
func (d *decoder) origin(e entry, what string, first **yaml.Node) []matrix.Setting {
	name, ok := d.containerName(e.value, e.key.Value)
	if *first != nil {
		d.problem(e.key, "keep one of them", "%s sets both image and instance", what)
		return nil
	}
	*first = e.key
	if !ok {
		return nil
	}
	target := matrix.Image
	if e.key.Value == "instance" {
		target = matrix.Instance
	}
	return []matrix.Setting{{Target: target, Value: matrix.Value{Kind: matrix.Word, Words: []string{name}}, Pos: pos(e.key)}}
}

// settings reads a map whose keys are flags, except those that special takes.
func (d *decoder) settings(n *yaml.Node, what string, special func(entry) ([]matrix.Setting, bool)) []matrix.Setting {
	entries, _ := d.entries(n, what)
	var settings []matrix.Setting
	first := map[string]*yaml.Node{}
	for _, e := range entries {
		if special != nil {
			if more, taken := special(e); taken {
				settings = append(settings, more...)
				continue
			}
		}
		name, ok := d.flagName(e.key, e.key.Value)
		if !ok {
			continue
		}
		if other := first[name]; other != nil {
			d.problem(e.key, "remove one of them", "%s sets the flag %s twice; line %d does already", what, name, other.Line)
			continue
		}
		first[name] = e.key
		if v, ok := d.flagValue(e.value, name); ok {
			settings = append(settings, matrix.Setting{Target: matrix.Flag, Name: name, Value: v, Pos: pos(e.key)})
		}
	}
	return settings
}

// command reads the words that start a server. Host and port are sweep's to
// add, so they may not come in by this door either.
func (d *decoder) command(n *yaml.Node, what string) ([]string, bool) {
	if n = d.follow(n); n == nil {
		return nil, false
	}
	example := "[python3, -m, sglang.launch_server]"
	if n.Kind == yaml.ScalarNode && kindOf(n) == text {
		if fields := strings.Fields(n.Value); len(fields) > 0 {
			example = "[" + strings.Join(fields, ", ") + "]"
		}
	}
	items := d.items(n, what, short(example))
	words := make([]string, 0, len(items))
	for _, item := range items {
		word, ok := d.text(item, "a word of "+what)
		if !ok {
			return nil, false
		}
		if flag, _, _ := strings.Cut(word, "="); flag == "--host" || flag == "--port" {
			d.problem(item, "remove it; server: {base-port: …} moves the ports", "%s belongs to sweep, which plans where each server listens", flag)
			return nil, false
		}
		words = append(words, word)
	}
	if n.Kind == yaml.SequenceNode && (len(words) == 0 || words[0] == "") {
		d.problem(n, "for example `[python3, -m, sglang.launch_server]`", "%s names no program", what)
		return nil, false
	}
	return words, n.Kind == yaml.SequenceNode
}

package sweep

import (
	"cmp"
	"regexp"

	"sweep/internal/matrix"
)

// The runtimes that can hold a server.
const (
	RuntimeProcess = "process" // the bare machine
	RuntimeIncus   = "incus"
	RuntimeLXC     = "lxc"
	RuntimePct     = "pct" // Proxmox
	RuntimeDocker  = "docker"
)

var runtimes = []string{RuntimeProcess, RuntimeIncus, RuntimeLXC, RuntimePct, RuntimeDocker}

// Container says where a server lives: on the bare machine, in an existing
// instance, or in a fresh one for each run, made from an image or as a copy.
type Container struct {
	Runtime  string `json:"runtime"`            // process | incus | lxc | pct | docker
	Instance string `json:"instance,omitempty"` // an existing one
	Image    string `json:"image,omitempty"`    // a fresh one is made from it
	CopyOf   string `json:"copy_of,omitempty"`  // a fresh one is a copy of this instance

	// Of a fresh one, in the runtime's own words and as they stand in the file.
	Config  map[string]string            `json:"config,omitempty"`
	Devices map[string]map[string]string `json:"devices,omitempty"`
}

// Fresh tells whether each run makes its own container.
func (c Container) Fresh() bool { return c.Image != "" || c.CopyOf != "" }

// Runtime is the one runtime of a plan.
func (p *Plan) Runtime() string {
	if len(p.Configurations) == 0 {
		return RuntimeProcess
	}
	return cmp.Or(p.Configurations[0].Container.Runtime, RuntimeProcess)
}

// take makes a setting of an axis or an include the origin of the container.
func (c Container) take(s *matrix.Setting) Container {
	c.Instance, c.Image, c.CopyOf = "", "", ""
	if s.Target == matrix.Image {
		c.Image = s.Value.Words[0]
		return c
	}
	c.Instance, c.Config, c.Devices = s.Value.Words[0], nil, nil
	return c
}

// containerPlaces are where the parts of a container stand in the file.
type containerPlaces struct {
	container, runtime, instance, image, copyOf, config, devices matrix.Pos
}

var proxmoxID = regexp.MustCompile(`^[1-9][0-9]{2,8}$`)

// checkContainer finds what does not fit together in the container and in what
// axes and includes make of it.
func (s *Spec) checkContainer() []Problem {
	c, at := s.Container, s.places
	c.Runtime = cmp.Or(c.Runtime, RuntimeProcess)
	var problems []Problem
	say := func(at matrix.Pos, message, hint string) {
		problems = append(problems, Problem{Pos: at, Message: message, Hint: hint})
	}
	if c.Runtime == RuntimeProcess {
		for _, part := range []struct {
			name string
			at   matrix.Pos
			set  bool
		}{{"instance", at.instance, c.Instance != ""}, {"image", at.image, c.Image != ""}, {"copy-of", at.copyOf, c.CopyOf != ""},
			{"config", at.config, len(c.Config) > 0}, {"devices", at.devices, len(c.Devices) > 0}} {
			if part.set {
				say(part.at, "the runtime process is the bare machine: it has no "+part.name, "remove it, or name a runtime that has containers: incus, lxc, pct, docker")
			}
		}
		for _, o := range s.origins() {
			say(o.Pos, "the runtime process is the bare machine: it has no "+string(o.Target), "remove it, or name a runtime that has containers: incus, lxc, pct, docker")
		}
		return problems
	}
	named := 0
	for _, name := range []string{c.Instance, c.Image, c.CopyOf} {
		if name != "" {
			named++
		}
	}
	always, image := s.originAxis()
	switch {
	case named > 1:
		say(cmp.Or(at.copyOf, at.image, at.instance), "container names more than one of instance, image and copy-of", "instance is an existing one; image or copy-of make a fresh one for each run")
	case named == 0 && !always:
		say(cmp.Or(at.runtime, at.container), "the runtime "+c.Runtime+" needs an instance, an image or copy-of", "for example `instance: glm5`")
	case !c.Fresh() && !image:
		for _, part := range []struct {
			name string
			at   matrix.Pos
			set  bool
		}{{"config", at.config, len(c.Config) > 0}, {"devices", at.devices, len(c.Devices) > 0}} {
			if part.set {
				say(part.at, part.name+" is for a fresh container, and instance names an existing one", "remove it, or write image: or copy-of: instead of instance:")
			}
		}
	}
	if c.Runtime == RuntimePct {
		const message, hint = "a container of Proxmox is named by its number", "for example `instance: 129`"
		if c.Instance != "" && !proxmoxID.MatchString(c.Instance) {
			say(at.instance, message, hint)
		}
		if c.CopyOf != "" && !proxmoxID.MatchString(c.CopyOf) {
			say(at.copyOf, message, hint)
		}
		for _, o := range s.origins() {
			if o.Target == matrix.Instance && !proxmoxID.MatchString(o.Value.Words[0]) {
				say(o.Pos, message, hint)
			}
		}
	}
	return problems
}

func isOrigin(s matrix.Setting) bool { return s.Target == matrix.Image || s.Target == matrix.Instance }

// origins are the settings of axes and includes that name a container.
func (s *Spec) origins() []matrix.Setting {
	var all []matrix.Setting
	add := func(settings []matrix.Setting) {
		for _, setting := range settings {
			if isOrigin(setting) {
				all = append(all, setting)
			}
		}
	}
	for _, a := range s.Axes {
		for _, v := range a.Values {
			add(v.Settings)
		}
	}
	for _, inc := range s.Include {
		add(inc.Set)
	}
	return all
}

// originAxis tells whether an axis names a container with each of its values,
// and whether anything names an image.
func (s *Spec) originAxis() (always, image bool) {
	for _, a := range s.Axes {
		values := 0
		for _, v := range a.Values {
			for _, setting := range v.Settings {
				if isOrigin(setting) {
					values++
				}
			}
		}
		always = always || (values > 0 && values == len(a.Values))
	}
	for _, o := range s.origins() {
		image = image || o.Target == matrix.Image
	}
	return always, image
}

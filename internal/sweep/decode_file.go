package sweep

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxRepeats bounds repeats: more is a slip of the keyboard.
const maxRepeats = 1000

// file reads the top of a sweep file.
func (d *decoder) file(root *yaml.Node) {
	s := d.spec
	d.object(root, "the sweep file", []field{
		{key: "name", need: "name: glm5-tp8", read: func(_, v *yaml.Node) {
			if name, ok := d.text(v, "name"); ok && d.named(v, name, "the name of the sweep", fileName) {
				s.Name = name
			}
		}},
		{key: "description", read: func(_, v *yaml.Node) { s.Description, _ = d.text(v, "description") }},
		{key: "host", read: func(_, v *yaml.Node) { s.Host = d.host(v) }},
		{key: "container", read: func(_, v *yaml.Node) { d.container(v) }},
		{key: "server", need: "server: {command: [python3, -m, sglang.launch_server]}", read: func(_, v *yaml.Node) { d.server(v) }},
		{key: "matrix", read: func(_, v *yaml.Node) { d.axes(v) }},
		{key: "exclude", read: func(_, v *yaml.Node) { d.exclude(v) }},
		{key: "include", read: func(_, v *yaml.Node) { d.include(v) }},
		{key: "baseline", read: func(_, v *yaml.Node) { s.Baseline = d.rule(v, "baseline") }},
		{key: "bench", need: "bench: {workloads: …, levels: …}", read: func(_, v *yaml.Node) { d.bench(v) }},
		{key: "goals"},
		{key: "repeats", read: func(_, v *yaml.Node) { s.Repeats, _ = d.whole(v, "repeats", 1, maxRepeats) }},
		{key: "night"},
		{key: "hooks"},
	})
	if s.Repeats == 0 {
		s.Repeats = 1
	}
	if s.Container.Runtime == "" {
		s.Container.Runtime = RuntimeProcess
	}
}

func (d *decoder) host(n *yaml.Node) string {
	host, ok := d.text(n, "host")
	if ok && (host == "" || len(host) > 255 || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' })) {
		d.problem(n, "an alias of ~/.ssh/config, or local for this machine", "host cannot be %s", quote(host))
	}
	return host
}

// RuntimeProcess holds servers on the bare machine.
const RuntimeProcess = "process"

func (d *decoder) container(n *yaml.Node) {
	c := &d.spec.Container
	var instance *yaml.Node
	d.object(n, "container", []field{
		{key: "runtime", need: "runtime: process", read: func(_, v *yaml.Node) {
			runtime, ok := d.text(v, "runtime")
			switch {
			case !ok:
			case runtime == RuntimeProcess:
				c.Runtime = runtime
			case runtime == "incus" || runtime == "lxc" || runtime == "pct" || runtime == "docker":
				d.problem(v, "use process, or wait for a later version of sweep", "the runtime %s is not supported yet", runtime)
			default:
				d.problem(v, "it is one of process, incus, lxc, pct, docker", "there is no runtime %s", quote(runtime))
			}
		}},
		{key: "instance", read: func(key, v *yaml.Node) {
			if name, ok := d.text(v, "instance"); ok && d.named(v, name, "the instance", fileName) {
				c.Instance, instance = name, key
			}
		}},
		{key: "image"}, {key: "copy-of"}, {key: "config"}, {key: "devices"},
	})
	if c.Runtime == RuntimeProcess && instance != nil {
		d.problem(instance, "remove it", "the runtime process is the bare machine: it has no instance")
	}
}

func (d *decoder) server(n *yaml.Node) {
	s := &d.spec.Server
	d.object(n, "server", []field{
		{key: "command", need: "command: [python3, -m, sglang.launch_server]", read: func(_, v *yaml.Node) { s.Command, _ = d.command(v, "command") }},
		{key: "env", read: func(_, v *yaml.Node) { s.Env = d.env(v, "env") }},
		{key: "env-file"}, {key: "secrets"},
		{key: "flags", read: func(_, v *yaml.Node) { s.Flags = d.flags(v, "flags") }},
		{key: "ready", read: func(_, v *yaml.Node) {
			d.object(v, "ready", []field{
				{key: "timeout", read: func(_, v *yaml.Node) { s.Ready.Timeout, _ = d.duration(v, "timeout") }},
				{key: "stall", read: func(_, v *yaml.Node) { s.Ready.Stall, _ = d.duration(v, "stall") }},
			})
		}},
		// Below 1024 a port needs privileges.
		{key: "base-port", read: func(_, v *yaml.Node) { d.spec.BasePort, _ = d.whole(v, "base-port", 1024, 65535) }},
	})
}

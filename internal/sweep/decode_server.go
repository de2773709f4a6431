package sweep

import (
	"path"
	"slices"

	"go.yaml.in/yaml/v3"

	"sweep/internal/matrix"
)

// server reads what every configuration has in common.
func (d *decoder) server(n *yaml.Node) {
	s := &d.spec.Server
	var secrets *yaml.Node
	d.object(n, "server", []field{
		{key: "command", need: "command: [python3, -m, sglang.launch_server]", read: func(_, v *yaml.Node) { s.Command, _ = d.command(v, "command") }},
		{key: "env", read: func(_, v *yaml.Node) { s.Env = d.env(v, "env") }},
		{key: "env-file", read: func(_, v *yaml.Node) { s.EnvFile = d.absolute(v, "env-file", "/etc/sglang.env") }},
		{key: "secrets", read: func(_, v *yaml.Node) { secrets = v }},
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
	if secrets != nil {
		d.secrets(secrets)
	}
}

// absolute reads the path of a file on another machine or in a container,
// where no working directory can be relied on.
func (d *decoder) absolute(n *yaml.Node, what, example string) string {
	name, ok := d.text(n, what)
	if ok && (!path.IsAbs(name) || path.Clean(name) != name || name == "/" || len(name) > 1024) {
		d.problem(n, "write the full path, for example `"+example+"`", "%s cannot be %s", what, quote(name))
		return ""
	}
	return name
}

// secrets reads names of variables. Only names: a value in a file would be a
// value in a repository.
func (d *decoder) secrets(n *yaml.Node) {
	for _, item := range d.items(n, "secrets", "secrets: [HF_TOKEN]") {
		if item.Kind != yaml.ScalarNode {
			d.problem(item, "only the name: the value comes from your environment", "a secret is named, not %s", kindName(item))
			continue
		}
		if !d.envName(item) {
			continue
		}
		switch {
		case slices.Contains(d.spec.Server.Secrets, item.Value):
			d.problem(item, "remove one of them", "the secret %s is here twice", item.Value)
		default:
			d.spec.Server.Secrets = append(d.spec.Server.Secrets, item.Value)
		}
	}
}

// secretsSet refuses variables that are secrets too: which of the two a server
// gets would be a question of order.
func (d *decoder) secretsSet() {
	if len(d.spec.Server.Secrets) == 0 {
		return
	}
	check := func(settings []matrix.Setting) {
		for _, s := range settings {
			if s.Target == matrix.Env && slices.Contains(d.spec.Server.Secrets, s.Name) {
				d.problems = append(d.problems, Problem{Pos: s.Pos, Message: s.Name + " is both a secret and a variable of env", Hint: "keep one of them"})
			}
		}
	}
	check(d.spec.Server.Env)
	for _, a := range d.spec.Axes {
		for _, v := range a.Values {
			check(v.Settings)
		}
	}
	for _, inc := range d.spec.Include {
		check(inc.Set)
	}
}

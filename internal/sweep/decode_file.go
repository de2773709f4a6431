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
	var goals *yaml.Node
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
		{key: "goals", read: func(_, v *yaml.Node) { goals = v }},
		{key: "repeats", read: func(_, v *yaml.Node) { s.Repeats, _ = d.whole(v, "repeats", 1, maxRepeats) }},
		{key: "night", read: func(_, v *yaml.Node) { d.night(v) }},
		{key: "hooks", read: func(_, v *yaml.Node) { d.hooks(v) }},
	})
	if goals != nil {
		s.Goals = d.goals(goals) // when the levels are known, whatever the order of the keys
	}
	if s.Repeats == 0 {
		s.Repeats = 1
	}
}

func (d *decoder) host(n *yaml.Node) string {
	host, ok := d.text(n, "host")
	if ok && (host == "" || len(host) > 255 || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' })) {
		d.problem(n, "an alias of ~/.ssh/config, or local for this machine", "host cannot be %s", quote(host))
	}
	return host
}

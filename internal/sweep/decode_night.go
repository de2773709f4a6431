package sweep

import "go.yaml.in/yaml/v3"

// night reads when a night ends, and how long the host rests between runs.
func (d *decoder) night(n *yaml.Node) {
	d.object(n, "night", []field{
		{key: "deadline", read: func(_, v *yaml.Node) { d.spec.Night.Deadline = d.deadline(v) }},
		{key: "cooldown", read: func(_, v *yaml.Node) { d.spec.Night.Cooldown, _ = d.duration(v, "cooldown") }},
	})
}

func (d *decoder) deadline(n *yaml.Node) *Deadline {
	text, ok := d.text(n, "deadline")
	if !ok {
		return nil
	}
	deadline, wrong := parseDeadline(text, kindName(n))
	if wrong != nil {
		d.problem(n, wrong.hint, "%s", wrong.message)
		return nil
	}
	return &deadline
}

// hooks reads the commands that run on the host around runs and the night.
func (d *decoder) hooks(n *yaml.Node) {
	h := &d.spec.Hooks
	hook := func(into *[]string) func(key, v *yaml.Node) {
		return func(key, v *yaml.Node) { *into = d.argv(v, "the hook "+key.Value) }
	}
	d.object(n, "hooks", []field{
		{key: "before-night", read: hook(&h.BeforeNight)},
		{key: "before-run", read: hook(&h.BeforeRun)},
		{key: "after-run", read: hook(&h.AfterRun)},
		{key: "after-night", read: hook(&h.AfterNight)},
	})
}

// argv reads a command as a list of words: no shell, so no quoting to get wrong.
func (d *decoder) argv(n *yaml.Node, what string) []string {
	var words []string
	for _, item := range d.items(n, what, `[/root/set-power-limit, "450"]`) {
		word, ok := d.text(item, "a word of "+what)
		if !ok {
			return nil
		}
		words = append(words, word)
	}
	if n.Kind == yaml.SequenceNode && (len(words) == 0 || words[0] == "") {
		d.problem(n, `for example [/root/set-power-limit, "450"]`, "%s names no program", what)
	}
	return words
}

package sweep

import (
	"regexp"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// night reads when a night ends, and how long the host rests between runs.
func (d *decoder) night(n *yaml.Node) {
	d.object(n, "night", []field{
		{key: "deadline", read: func(_, v *yaml.Node) { d.spec.Night.Deadline = d.deadline(v) }},
		{key: "cooldown", read: func(_, v *yaml.Node) { d.spec.Night.Cooldown, _ = d.duration(v, "cooldown") }},
	})
}

var (
	clockPattern = regexp.MustCompile(`^([01]?[0-9]|2[0-3]):([0-5][0-9])(?: +([^ ]+))?$`)
	zonePattern  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+/-]{0,63}$`)
)

func (d *decoder) deadline(n *yaml.Node) *Deadline {
	text, ok := d.text(n, "deadline")
	if !ok {
		return nil
	}
	m := clockPattern.FindStringSubmatch(text)
	if m == nil {
		d.problem(n, `for example "07:00 Europe/Prague"`, "deadline must be a time of day and a time zone, not %s", kindName(n))
		return nil
	}
	deadline := &Deadline{Zone: m[3]}
	deadline.Hour, _ = strconv.Atoi(m[1])
	deadline.Minute, _ = strconv.Atoi(m[2])
	if m[3] == "" {
		return deadline
	}
	// "Local" would be another zone on each machine that reads the plan.
	if _, err := time.LoadLocation(m[3]); err != nil || m[3] == "Local" || !zonePattern.MatchString(m[3]) {
		d.problem(n, "write a name of the IANA list, like Europe/Prague or UTC, or leave it out for the host's own", "there is no time zone %s", quote(m[3]))
		return nil
	}
	return deadline
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

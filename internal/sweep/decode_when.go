package sweep

import (
	"go.yaml.in/yaml/v3"

	"sweep/internal/matrix"
)

// pendingWhen is a condition that waits until the axes are known.
type pendingWhen struct {
	rule int // index into Spec.Exclude
	node *yaml.Node
}

// conditions compiles the conditions of the rules, and looks at the names that
// they ask for: a flag that nothing sets is mostly a mistyped one.
func (d *decoder) conditions() {
	flags, env := d.spec.settable()
	for _, p := range d.whens {
		when, problems := matrix.CompileWhen(p.node.Value, d.places(p.node), d.spec.Axes)
		if len(problems) > 0 {
			d.problems = append(d.problems, problems...)
			d.spec.Exclude[p.rule].When = new(matrix.When) // a rule all the same: it is not empty too
			continue
		}
		for _, ref := range when.Flags {
			full := fullName(ref.Name)
			if c := d.complete(full); c.full != "" {
				full = c.full
			}
			if full != ref.Name {
				d.problems = append(d.problems, Problem{Pos: ref.Pos, Message: "when asks for the flag " + quote(ref.Name) + " by another name than it is set",
					Hint: `write flags["` + full + `"]`})
				continue
			}
			d.unset(ref, "flag", flags)
		}
		for _, ref := range when.Env {
			d.unset(ref, "variable", env)
		}
		d.spec.Exclude[p.rule].When = when
	}
}

func (d *decoder) unset(ref matrix.Reference, what string, set map[string]bool) {
	if set[ref.Name] || len(d.spec.Warnings) >= 4*maxProblems {
		return
	}
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	text := "nothing in this file sets the " + what + " " + quote(ref.Name) + ": when sees nil; "
	if s := matrix.Suggest(ref.Name, sorted(names)); s != "" {
		text += s
	} else {
		text += "set it in server or on an axis, or compare it with nil"
	}
	d.spec.Warnings = append(d.spec.Warnings, Warning{Pos: ref.Pos, Text: text})
}

// settable are the flags and variables that anything in the file sets.
func (s *Spec) settable() (flags, env map[string]bool) {
	flags, env = map[string]bool{}, map[string]bool{}
	add := func(settings []matrix.Setting) {
		for _, setting := range settings {
			switch setting.Target {
			case matrix.Flag:
				flags[setting.Name] = true
			case matrix.Env:
				env[setting.Name] = true
			}
		}
	}
	add(s.Server.Flags)
	add(s.Server.Env)
	for _, a := range s.Axes {
		for _, v := range a.Values {
			add(v.Settings)
		}
	}
	return flags, env
}

package sweep

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"sweep/internal/matrix"
)

// axes reads the matrix: for each axis either a map of labels to bundles, or a
// list, which makes the axis the flag of its name.
func (d *decoder) axes(n *yaml.Node) {
	before := len(d.problems)
	var empty []matrix.Axis
	entries, _ := d.entries(n, "matrix")
	for _, e := range entries {
		name := e.key.Value
		if !d.named(e.key, name, "the axis", labelName) {
			continue
		}
		if name == "when" {
			d.problem(e.key, "choose another name", "an axis cannot be called when: rules use that word")
			continue
		}
		axis := matrix.Axis{Name: name, Pos: pos(e.key)}
		switch e.value.Kind {
		case yaml.MappingNode:
			axis.Values = d.labelled(e.value, name)
		case yaml.SequenceNode:
			axis.Values = d.short(e, name)
		default:
			d.problem(e.value, "write "+name+": [a, b], or "+name+": {label: {flag: value}}",
				"the axis %s must be a list of values or a map of labels, not %s", name, kindName(e.value))
			continue
		}
		if len(e.value.Content) == 0 {
			empty = append(empty, axis)
		}
		d.spec.Axes = append(d.spec.Axes, axis)
	}
	d.axesBroken = len(d.problems) > before
	if d.axesBroken { // the axes are not checked together then, but these are wrong by themselves
		d.problems = append(d.problems, matrix.Matrix{Axes: empty}.Check()...)
	}
}

func (d *decoder) labelled(n *yaml.Node, axis string) []matrix.AxisValue {
	entries, _ := d.entries(n, "the axis "+axis)
	var values []matrix.AxisValue
	for _, e := range entries {
		name := label(e.key)
		if !d.named(e.key, name, "a label of the axis "+axis, labelName) {
			continue
		}
		v := matrix.AxisValue{Label: name, Pos: pos(e.key)}
		if e.value.Kind == yaml.ScalarNode {
			d.problem(e.value, "write {flag: value}, or {} for nothing", "the value %s of the axis %s must be a map of flags, not %s", name, axis, kindName(e.value))
			continue
		}
		v.Settings = d.bundle(e.value, "the value "+name)
		values = append(values, v)
	}
	return values
}

// short reads `flag: [a, b]`. The labels are the values' texts, so a value
// that makes no label needs the long form.
func (d *decoder) short(e entry, axis string) []matrix.AxisValue {
	flag, ok := d.flagName(e.key, axis)
	if !ok {
		return nil
	}
	var values []matrix.AxisValue
	for _, c := range d.items(e.value, "the axis "+axis, axis+": [a, b]") {
		if c.Kind != yaml.ScalarNode || !labelName.MatchString(label(c)) || len(label(c)) > maxName || strings.Contains(label(c), "..") {
			d.problem(c, "give it one: "+axis+": {label: {"+flag+": …}}", "%s makes no label on the axis %s", kindName(c), axis)
			continue
		}
		value, ok := d.flagValue(c, flag)
		if !ok {
			continue
		}
		values = append(values, matrix.AxisValue{Label: label(c), Pos: pos(c), Settings: []matrix.Setting{
			{Target: matrix.Flag, Name: flag, Value: value, Pos: pos(c)}}})
	}
	return values
}

// maxRules bounds the exclude and include lists: each rule is judged on every
// combination.
const maxRules = 1000

func (d *decoder) exclude(n *yaml.Node) {
	for _, item := range d.rules(n, "exclude", "- {axis: label, axis: label}") {
		before := len(d.problems)
		r, when := d.ruleAndWhen(item, "a rule of exclude")
		if len(d.problems) > before {
			continue
		}
		if when != nil {
			d.whens = append(d.whens, pendingWhen{rule: len(d.spec.Exclude), node: when})
		}
		d.spec.Exclude = append(d.spec.Exclude, r)
	}
}

func (d *decoder) rules(n *yaml.Node, what, example string) []*yaml.Node {
	items := d.items(n, what, example)
	if len(items) > maxRules {
		d.problem(items[maxRules], "split the sweep into several files", "%s has %d items, more than %d", what, len(items), maxRules)
		items = items[:maxRules]
	}
	return items
}

// rule reads a map of axes to labels.
func (d *decoder) rule(n *yaml.Node, what string) matrix.Rule {
	r, when := d.ruleAndWhen(n, what)
	if when != nil {
		d.problem(when, "conditions are for exclude", "%s cannot hold when", what)
	}
	return r
}

// ruleAndWhen reads a map of axes to labels that may hold a condition too.
func (d *decoder) ruleAndWhen(n *yaml.Node, what string) (r matrix.Rule, when *yaml.Node) {
	r.Pos = pos(n)
	entries, _ := d.entries(n, what)
	var parts []string
	for _, e := range entries {
		if e.key.Value == "when" {
			if e.value.Kind != yaml.ScalarNode || kindOf(e.value) == null {
				d.problem(e.value, `for example when: 'axis.parallel == "tp8"'`, "when must be text, not %s", kindName(e.value))
			} else if text, ok := d.text(e.value, "when"); ok {
				when = e.value
				parts = append(parts, "when: "+strings.Join(strings.Fields(text), " "))
			}
			continue
		}
		if e.value.Kind != yaml.ScalarNode {
			d.problem(e.value, "write one rule for each label", "%s names one label of the axis %s, not %s", what, quote(e.key.Value), kindName(e.value))
			continue
		}
		l := matrix.Label{Axis: e.key.Value, Value: label(e.value)}
		r.Labels = append(r.Labels, l)
		r.Places = append(r.Places, matrix.Place{Axis: pos(e.key), Value: pos(e.value)})
		parts = append(parts, l.Axis+": "+l.Value)
	}
	r.Text = "{" + strings.Join(parts, ", ") + "}"
	return r, when
}

func (d *decoder) include(n *yaml.Node) {
	for _, item := range d.rules(n, "include", "- {name: x, at: {axis: label}, set: {flag: value}}") {
		inc := matrix.Include{Pos: pos(item)}
		before := len(d.problems)
		d.object(item, "an item of include", []field{
			{key: "name", need: "name: card-recipe", read: func(key, v *yaml.Node) {
				if name, ok := d.text(v, "name"); ok && d.named(v, name, "the name", fileName) {
					inc.Name, inc.Pos = name, pos(key)
				}
			}},
			{key: "at", read: func(_, v *yaml.Node) {
				at := d.rule(v, "at")
				inc.Labels, inc.Places = at.Labels, at.Places
			}},
			{key: "set", read: func(_, v *yaml.Node) { inc.Set = d.bundle(v, "set") }},
		})
		if len(d.problems) == before {
			d.spec.Include = append(d.spec.Include, inc)
		}
	}
}

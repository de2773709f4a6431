package sweep

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"sweep/internal/matrix"
)

// Decode reads a sweep file. It is strict: what it does not know, cannot use
// or would have to guess is an error. The error is a *FileError that holds
// every problem at once, in file order; file is only a name for it.
func Decode(file string, data []byte) (*Spec, error) {
	source, problem := readable(data)
	if problem != nil {
		return nil, newFileError(file, source, []Problem{*problem})
	}
	root, problem := document(source)
	if problem != nil {
		return nil, newFileError(file, source, []Problem{*problem})
	}
	d := &decoder{spec: &Spec{File: file, source: source}, budget: nodeBudget}
	d.file(root)
	d.secretsSet()
	if !d.axesBroken {
		d.conditions()
		d.problems = append(d.problems, d.spec.matrix().Check()...)
		if d.spec.Container.Runtime != "" && !d.containerBroken {
			d.problems = append(d.problems, d.spec.checkContainer()...)
		}
	}
	if len(d.problems) > 0 {
		return nil, newFileError(file, source, d.spec.misspelledAxes(d.problems))
	}
	d.spec.overridden()
	return d.spec, nil
}

// matrix is the part of a spec that is expanded.
func (s *Spec) matrix() matrix.Matrix {
	base := slices.Concat(s.Server.Flags, s.Server.Env)
	return matrix.Matrix{Base: base, Axes: s.Axes, Exclude: s.Exclude, Include: s.Include, Baseline: s.Baseline}
}

// nodeBudget bounds how much aliases may multiply a file: the sum of the nodes
// and text bytes that are read. The largest file without aliases stays below.
const nodeBudget = 48 * MaxFile

// maxDepth bounds nesting inside one value.
const maxDepth = 32

// decoder walks the YAML nodes of one file.
type decoder struct {
	spec     *Spec
	problems []Problem
	budget   int
	bankrupt bool // the budget is spent, and that has been said

	axesBroken bool // the axes are incomplete: names in rules cannot be judged
	whens      []pendingWhen

	containerBroken bool // likewise the container

	completed map[string]completion // names of flags that were looked up
	lines     [][]byte              // of the source, once they are needed
}

func (d *decoder) problem(n *yaml.Node, hint, format string, args ...any) {
	if len(d.problems) > 4*maxProblems {
		return // nobody reads that far, and each one costs
	}
	d.problems = append(d.problems, Problem{Pos: pos(n), Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (d *decoder) warn(n *yaml.Node, format string, args ...any) {
	if len(d.spec.Warnings) < 4*maxProblems {
		d.spec.Warnings = append(d.spec.Warnings, Warning{Pos: pos(n), Text: fmt.Sprintf(format, args...)})
	}
}

func pos(n *yaml.Node) matrix.Pos { return matrix.Pos{Line: n.Line, Column: n.Column} }

// follow resolves an alias, charges the budget and refuses tags. Every node is
// followed before anything else is done with it; nil: do without.
func (d *decoder) follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if d.budget -= 16 + len(n.Value); d.budget < 0 {
		if !d.bankrupt {
			d.bankrupt = true
			d.problem(n, "write the values out", "the aliases of this file multiply it beyond all bounds")
		}
		return nil
	}
	if n.Style&yaml.TaggedStyle != 0 {
		d.problem(n, "quote a value that is meant as text", "tags like %s are not part of the sweep file", quote(n.Tag))
		return nil
	}
	return n
}

// field is one key that a map may have.
type field struct {
	key  string
	need string // not empty: the key is required, with an example to print
	read func(key, value *yaml.Node)
}

// object reads a map with fixed keys. what names the map in messages.
func (d *decoder) object(n *yaml.Node, what string, fields []field) {
	owner := n
	entries, ok := d.entries(n, what)
	if !ok {
		return
	}
	seen := map[string]bool{}
	for _, e := range entries {
		seen[e.key.Value] = true
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == e.key.Value })
		switch {
		case i < 0:
			d.problem(e.key, oneOf(e.key.Value, keysOf(fields), "its keys are "), "unknown key %s in %s", quote(e.key.Value), what)
			seen[matrix.Near(e.key.Value, keysOf(fields))] = true // a mistyped key is not missing too
		default:
			fields[i].read(e.key, e.value)
		}
	}
	for _, f := range fields {
		if f.need != "" && !seen[f.key] {
			d.problem(owner, "for example `"+f.need+"`", "%s has no %s", what, f.key)
		}
	}
}

func keysOf(fields []field) []string {
	keys := make([]string, 0, len(fields))
	for _, f := range fields {
		keys = append(keys, f.key)
	}
	return keys
}

// oneOf is a hint: the name that was probably meant, or all there are.
func oneOf(word string, names []string, lead string) string {
	if s := matrix.Suggest(word, names); s != "" {
		return s
	}
	const most = 16
	if len(names) > most {
		return lead + strings.Join(names[:most], ", ") + ", …"
	}
	return lead + strings.Join(names, ", ")
}

// entry is one key and its value, both followed.
type entry struct{ key, value *yaml.Node }

// entries are the pairs of a map in file order. Duplicate, merge and non-text
// keys are refused.
func (d *decoder) entries(n *yaml.Node, what string) ([]entry, bool) {
	n = d.follow(n)
	if n == nil {
		return nil, false
	}
	if n.Kind != yaml.MappingNode {
		d.problem(n, "write it as `key: value` lines", "%s must be a map, not %s", what, kindName(n))
		return nil, false
	}
	first := make(map[string]*yaml.Node, len(n.Content)/2)
	entries := make([]entry, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			d.problem(key, "write the key out", "a key must be a plain word")
			continue
		}
		value := d.follow(n.Content[i+1])
		if d.follow(key) == nil || value == nil {
			continue
		}
		if key.Value == "<<" && kindOf(key) == text && key.Style == 0 {
			d.problem(key, "write the keys out; an alias as a whole value works", "merge keys are not supported")
			continue
		}
		if other := first[key.Value]; other != nil {
			d.problem(key, "remove one of them", "%s is here a second time; the first is on line %d", quote(key.Value), other.Line)
			continue
		}
		first[key.Value] = key
		entries = append(entries, entry{key, value})
	}
	return entries, true
}

// items are the values of a list, followed.
func (d *decoder) items(n *yaml.Node, what, example string) []*yaml.Node {
	n = d.follow(n)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		d.problem(n, "for example `"+example+"`", "%s must be a list, not %s", what, kindName(n))
		return nil
	}
	items := make([]*yaml.Node, 0, len(n.Content))
	for _, c := range n.Content {
		if c = d.follow(c); c != nil {
			items = append(items, c)
		}
	}
	return items
}

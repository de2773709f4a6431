package sweep

import (
	"bytes"
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"

	"sweep/internal/matrix"
)

// flagValue reads what a flag is given. Scalars are carried as they stand in
// the file: a value that passes through a number changes (1.10, 1e3, 007).
func (d *decoder) flagValue(n *yaml.Node, name string) (matrix.Value, bool) {
	if n = d.follow(n); n == nil {
		return matrix.Value{}, false
	}
	what := "the flag " + name
	switch n.Kind {
	case yaml.SequenceNode:
		return d.listValue(n, what)
	case yaml.MappingNode:
		word, ok := d.jsonWord(n, what)
		return matrix.Value{Kind: matrix.JSON, Words: []string{word}}, ok
	}
	switch kindOf(n) {
	case null:
		return matrix.Value{Kind: matrix.Omit}, true
	case no:
		if hasNoTwin(name) {
			return matrix.Value{Kind: matrix.Off}, true
		}
		return matrix.Value{Kind: matrix.Omit}, true
	case yes:
		return matrix.Value{Kind: matrix.Switch}, true
	}
	word, ok := d.text(n, what)
	return matrix.Value{Kind: matrix.Word, Words: []string{word}}, ok
}

func (d *decoder) listValue(n *yaml.Node, what string) (matrix.Value, bool) {
	v := matrix.Value{Kind: matrix.Words}
	if len(n.Content) == 0 {
		d.problem(n, "write null to leave the flag out", "%s is given an empty list", what)
		return v, false
	}
	for _, c := range n.Content {
		if c = d.follow(c); c == nil {
			return v, false
		}
		var word string
		var ok bool
		switch c.Kind {
		case yaml.SequenceNode:
			d.problem(c, "a list holds words, or maps that become JSON", "%s is given a list inside a list", what)
		case yaml.MappingNode:
			word, ok = d.jsonWord(c, what)
		default:
			word, ok = d.text(c, "a word of "+what)
		}
		if !ok {
			return v, false
		}
		v.Words = append(v.Words, word)
	}
	return v, true
}

// envValue reads what a variable is given: text, or null to unset it. A bare
// true or false is refused: as text it means different things to different
// programs, and as a switch nothing at all.
func (d *decoder) envValue(n *yaml.Node, name string) (matrix.Value, bool) {
	if n = d.follow(n); n == nil {
		return matrix.Value{}, false
	}
	what := "the variable " + name
	if n.Kind == yaml.ScalarNode {
		switch kindOf(n) {
		case null:
			return matrix.Value{Kind: matrix.Omit}, true
		case yes, no:
			d.problem(n, `quote the text that the program expects ("1", "true"), or write null to unset it`, "%s cannot be a bare %s", what, n.Value)
			return matrix.Value{}, false
		}
	}
	word, ok := d.text(n, what)
	return matrix.Value{Kind: matrix.Word, Words: []string{word}}, ok
}

// jsonWord writes a map as one word of JSON: keys in file order, scalars typed
// as YAML's core schema does, numbers as they stand in the file.
func (d *decoder) jsonWord(n *yaml.Node, what string) (string, bool) {
	var b strings.Builder
	ok := d.json(&b, n, what, 0)
	return b.String(), ok
}

func (d *decoder) json(b *strings.Builder, n *yaml.Node, what string, depth int) bool {
	if depth > maxDepth {
		d.problem(n, "pass the name of a file instead, where the flag takes one", "%s is nested deeper than %d", what, maxDepth)
		return false
	}
	switch n.Kind {
	case yaml.MappingNode:
		entries, ok := d.entries(n, what)
		b.WriteByte('{')
		for i, e := range entries {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(jsonText(e.key.Value))
			b.WriteByte(':')
			ok = d.json(b, e.value, what, depth+1) && ok
		}
		b.WriteByte('}')
		return ok && len(entries) == len(n.Content)/2
	case yaml.SequenceNode:
		ok := true
		b.WriteByte('[')
		for i, c := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if c = d.follow(c); c == nil {
				return false
			}
			ok = d.json(b, c, what, depth+1) && ok
		}
		b.WriteByte(']')
		return ok
	}
	switch kindOf(n) {
	case null:
		b.WriteString("null")
	case yes:
		b.WriteString("true")
	case no:
		b.WriteString("false")
	case number:
		if !jsonNumber.MatchString(n.Value) {
			d.problem(n, "write it as JSON does, or quote it to pass text", "%s becomes JSON, which has no number %s", what, quote(n.Value))
			return false
		}
		b.WriteString(n.Value)
	default:
		b.WriteString(jsonText(n.Value))
	}
	return true
}

// jsonText leaves <, > and & alone: the word is read by Python, not by HTML.
func jsonText(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
		return `"` + s + `"`
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

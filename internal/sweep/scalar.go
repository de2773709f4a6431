package sweep

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// scalarKind is what YAML 1.2's core schema says a scalar is. The parser's own
// opinion is not asked: it keeps parts of YAML 1.1, where `on`, `012`, `12:30`
// and dates are something else than what stands in the file.
type scalarKind int

const (
	text scalarKind = iota
	null
	yes
	no
	number
)

var coreNumber = regexp.MustCompile(`^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)

// jsonNumber is what may stand in JSON exactly as it stands in the file.
var jsonNumber = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$`)

func kindOf(n *yaml.Node) scalarKind {
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return text
	}
	switch n.Value {
	case "", "~", "null", "Null", "NULL":
		return null
	case "true", "True", "TRUE":
		return yes
	case "false", "False", "FALSE":
		return no
	}
	if strings.IndexByte("+-.0123456789", n.Value[0]) >= 0 && coreNumber.MatchString(n.Value) {
		return number
	}
	return text
}

// kindName is what a node is, in a message.
func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	}
	switch kindOf(n) {
	case null:
		return "nothing"
	case yes, no:
		return n.Value
	case number:
		return "the number " + short(n.Value)
	}
	return "the text " + quote(n.Value)
}

// quote shows a text of the file in a message, shortened.
func quote(s string) string { return `"` + short(Printable(s)) + `"` }

// short keeps messages on a screen whatever the file holds.
func short(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

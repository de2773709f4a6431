package sweep

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"sweep/internal/matrix"
)

// places tells for each character of a scalar's value where it stands in the
// file, through quotes, escapes, folded lines and blocks. Where the text of the
// file cannot be followed any further, the rest stands at the last place.
func (d *decoder) places(n *yaml.Node) []matrix.Pos {
	if d.lines == nil {
		d.lines = bytes.Split(d.spec.source, []byte("\n"))
	}
	r := &rawText{lines: d.lines, line: n.Line, column: n.Column}
	value := []rune(n.Value)
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		r.block(n.Value)
	case n.Style&yaml.DoubleQuotedStyle != 0:
		r.open('"')
	case n.Style&yaml.SingleQuotedStyle != 0:
		r.open('\'')
	default:
		r.open(0)
	}
	places := make([]matrix.Pos, 0, len(value)+1)
	for i, want := range value {
		next := rune(-1)
		if i+1 < len(value) {
			next = value[i+1]
		}
		at, ok := r.take(want, next)
		if !ok {
			break
		}
		places = append(places, at)
	}
	if len(places) == 0 {
		return []matrix.Pos{pos(n)}
	}
	return append(places, matrix.Pos{Line: r.line, Column: r.column})
}

// rawText is a place in the text of a file that moves along with a scalar's
// value.
type rawText struct {
	lines        [][]byte
	line, column int    // of the next character, from 1
	rest         string // of the line
	quote        rune   // 0 for plain text and blocks
	indent       int    // of a block; -1 otherwise
}

func (r *rawText) text(line int) string {
	if line < 1 || line > len(r.lines) {
		return ""
	}
	return strings.TrimSuffix(string(r.lines[line-1]), "\r")
}

// open goes to the first character of plain or quoted text.
func (r *rawText) open(quote rune) {
	r.quote, r.indent = quote, -1
	text := r.text(r.line)
	r.rest = text[byteOf(text, r.column-1):]
	if quote != 0 && strings.HasPrefix(r.rest, string(quote)) {
		r.step(1)
	}
}

// block goes to the first character of a block below its | or >.
func (r *rawText) block(value string) {
	inside := len(value) - len(strings.TrimLeft(value, " \n"))
	inside -= strings.LastIndexByte(value[:inside], '\n') + 1
	for line := r.line + 1; line <= len(r.lines); line++ {
		if text := r.text(line); strings.TrimSpace(text) != "" {
			r.indent = max(len(text)-len(strings.TrimLeft(text, " "))-inside, 0)
			break
		}
	}
	r.down()
}

// down goes to the next line, past its indentation.
func (r *rawText) down() {
	r.line++
	text := r.text(r.line)
	skip := min(r.indent, len(text))
	if r.indent < 0 {
		skip = len(text) - len(strings.TrimLeft(text, " \t"))
	}
	r.column, r.rest = 1+skip, text[skip:]
}

// step passes n characters.
func (r *rawText) step(n int) {
	r.rest = r.rest[byteOf(r.rest, n):]
	r.column += n
}

// take passes what stands for the character want and tells where that is.
func (r *rawText) take(want, next rune) (matrix.Pos, bool) {
	for r.quote == '"' && strings.TrimRight(r.rest, " \t") == `\` { // the line goes on below
		r.down()
	}
	at := matrix.Pos{Line: r.line, Column: r.column}
	ended := r.rest == "" || (r.indent < 0 && strings.Trim(r.rest, " \t") == "")
	switch {
	case r.line > len(r.lines):
		return at, false
	case ended && (want == '\n' || want == ' '):
		r.down()
		for want != next && next != '\n' && r.line < len(r.lines) && strings.TrimSpace(r.text(r.line)) == "" {
			r.down() // the first of several line breaks is not in a folded text
		}
		return at, true
	case ended:
		return at, false
	}
	first, _ := utf8.DecodeRuneInString(r.rest)
	switch {
	case r.quote == '"' && first == '\\':
		r.step(1 + escapeLength(r.rest[1:]))
	case r.quote == '\'' && first == '\'':
		r.step(2)
	case first == want:
		r.step(1)
	default:
		return at, false
	}
	return at, true
}

// escapeLength is how many characters an escape has behind its backslash.
func escapeLength(s string) int {
	switch {
	case strings.HasPrefix(s, "x"):
		return 3
	case strings.HasPrefix(s, "u"):
		return 5
	case strings.HasPrefix(s, "U"):
		return 9
	}
	return 1
}

package sweep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"sweep/internal/matrix"
)

// MaxFile bounds a sweep file, in bytes. The largest sensible one is a tenth of
// it; the YAML parser takes up to half a kilobyte of memory for each byte.
const MaxFile = 512 << 10

// readable strips a byte order mark and refuses what is no text before a YAML
// parser sees it: its own messages about bytes and tabs name no place.
func readable(data []byte) ([]byte, *Problem) {
	if len(data) > MaxFile {
		return nil, &Problem{Message: fmt.Sprintf("the file is larger than %d bytes", MaxFile), Hint: "this is hardly a sweep file; check the name"}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	line, column, indent := 1, 1, true
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		pos := matrix.Pos{Line: line, Column: column}
		column++
		switch {
		case r == utf8.RuneError && size == 1:
			return nil, &Problem{Pos: pos, Message: "this is not UTF-8 text", Hint: "save the file as UTF-8; if it is binary, check the name"}
		case r == '\t' && indent:
			return data, &Problem{Pos: pos, Message: "a tab in the indentation", Hint: "YAML indents with spaces only"}
		case strayControl(r) || (r == '\r' && !bytes.HasPrefix(data[i+1:], []byte("\n"))):
			return data, &Problem{Pos: pos, Message: fmt.Sprintf("a control character (U+%04X)", r), Hint: "a sweep file is plain text; if this one is binary, check the name"}
		case r == '\n':
			line, column, indent = line+1, 1, true
		case r != ' ' && r != '\t':
			indent = false
		}
		i += size
	}
	return data, nil
}

// strayControl also holds the line breaks that only YAML knows: after one of
// them no editor would agree on the line of a message.
func strayControl(r rune) bool {
	switch r {
	case '\n', '\r', '\t':
		return false
	case 0x2028, 0x2029, 0xfeff:
		return true
	}
	return unicode.IsControl(r)
}

// document parses the one document of a file.
func document(data []byte) (*yaml.Node, *Problem) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) || (err == nil && (len(doc.Content) == 0 || empty(doc.Content[0]))) {
		return nil, &Problem{Pos: matrix.Pos{Line: 1, Column: 1}, Message: "the file is empty", Hint: "a sweep file begins with `name:`"}
	}
	if err != nil {
		return nil, syntax(err, data)
	}
	switch err := dec.Decode(&second); {
	case errors.Is(err, io.EOF):
		return doc.Content[0], nil
	case err != nil:
		return nil, syntax(err, data)
	}
	return nil, &Problem{Pos: matrix.Pos{Line: second.Line, Column: second.Column}, Message: "a second document begins here",
		Hint: "a sweep file is one document: remove the `---`, or split the file"}
}

func empty(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0 }

var (
	yamlLine   = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)
	yamlAnchor = regexp.MustCompile(`unknown anchor '(.*)' referenced`)
)

// complaints say in plain words what the parser found. It counts lines from 0
// in its parser and from 1 in its scanner and prints both alike: off mends that.
var complaints = []struct {
	has, say, hint string
	off            int
	late           bool // it names where the map or list begins, not what is wrong in it
}{
	{has: "did not find expected key", say: "the indentation here does not fit what stands above", hint: "keys of one map, and items of one list, stand in one column", off: 1, late: true},
	{has: "did not find expected '-' indicator", say: "this stands in the column of the list above, and is no item of it", hint: "items of one list stand in one column and begin with `- `", off: 1, late: true},
	{has: "did not find expected <document start>", say: "something follows here that does not belong to what stands above", hint: "a sweep file is one map of `key: value` lines", off: 1},
	{has: "did not find expected ',' or", say: "a [list] or {map} that begins here is not closed, or a comma or a closing quote is missing in it", hint: "close it with ] or }, write a comma between its items, and close each quote", off: 1},
	{has: "did not find expected node content", say: "a value is missing inside [ ] or { }", hint: "", off: 1},
	{has: "could not find expected ':'", say: "a key without a colon", hint: "write `key: value`, with a space after the colon"},
	{has: "mapping values are not allowed", say: "a second colon in one value, or a key that is indented too far", hint: "quote a value that holds `: `"},
	{has: "found character that cannot start any token", say: "a value cannot begin with this character", hint: "quote values that begin with @, ` or %"},
	{has: "found unexpected end of stream", say: "the file ends inside a quoted text", hint: "close the quote"},
	{has: "unknown escape character", say: "an unknown escape in a quoted text", hint: `inside "…" write \\ for a backslash, or use '…'`},
	{has: "found incompatible YAML document", say: "a %YAML line that the parser does not take", hint: "remove it"},
	{has: "exceeded max depth", say: "the file is nested too deep", hint: "a sweep file needs a handful of levels"},
	{has: "block sequence entries are not allowed", say: "a list item cannot stand here", hint: "put it on its own line, indented below its key"},
}

// syntax places what the YAML parser says, as well as it lets us.
func syntax(err error, data []byte) *Problem {
	text := err.Error()
	m := yamlLine.FindStringSubmatch(text)
	line := 1
	if m != nil && m[1] != "" {
		line, _ = strconv.Atoi(m[1])
	}
	p := &Problem{Message: "this is not YAML: " + strings.TrimPrefix(text, m[0]), Hint: "see the lines around it"}
	if a := yamlAnchor.FindStringSubmatch(text); a != nil {
		before, _, _ := bytes.Cut(data, []byte("*"+a[1]))
		line = 1 + bytes.Count(before, []byte("\n"))
		p.Message, p.Hint = fmt.Sprintf("*%s stands for nothing: there is no &%s before it", a[1], a[1]), "quote a value that begins with *"
	}
	for _, c := range complaints {
		if strings.Contains(text, c.has) {
			p.Message, p.Hint = c.say, c.hint
			line += c.off
			if m[1] == "" && c.off > 0 {
				line = 1
			}
			if c.late {
				line = firstWith(data, c.has, line)
			}
			break
		}
	}
	if at := gluedKey(data, line); at > 0 && (strings.Contains(text, "mapping values are not allowed") || strings.Contains(text, "<document start>")) {
		line = at
		p.Message, p.Hint = "a key without a space after its colon", "write `key: value`, with a space after the colon"
	}
	p.Pos = matrix.Pos{Line: line, Column: firstColumn(data, line)}
	return p
}

// firstWith is the line up to which a file has to be read for the parser to
// complain: it names where the map or list begins that goes wrong, which may be
// a page above. Without such a line it is the one that the parser named.
func firstWith(data []byte, complaint string, named int) int {
	lines := bytes.SplitAfter(data, []byte("\n"))
	complains := func(n int) bool {
		var doc yaml.Node
		err := yaml.Unmarshal(bytes.Join(lines[:n], nil), &doc)
		return err != nil && strings.Contains(err.Error(), complaint)
	}
	low, high := min(named, len(lines))-1, len(lines)
	if low < 0 || !complains(high) {
		return named
	}
	for low+1 < high { // it does not complain of low lines, and does of high
		if middle := (low + high) / 2; complains(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// glued is a line that was meant to be a key and its value.
var glued = regexp.MustCompile(`^\s*(?:- )?[A-Za-z][A-Za-z0-9_-]*:[^\s:/]\S*\s*(?:#.*)?$`)

// gluedKey is the line of a key that has no space after its colon, the last with
// anything on it before the line that the parser named; 0 when it is none.
func gluedKey(data []byte, line int) int {
	lines := bytes.Split(data, []byte("\n"))
	for i := min(line-1, len(lines)) - 1; i >= 0; i-- {
		text := bytes.TrimSpace(lines[i])
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		if glued.Match(bytes.TrimRight(lines[i], "\r")) {
			return i + 1
		}
		break
	}
	return 0
}

// firstColumn is the column of the first letter of a line.
func firstColumn(data []byte, line int) int {
	for range line - 1 {
		_, rest, ok := bytes.Cut(data, []byte("\n"))
		if !ok {
			return 1
		}
		data = rest
	}
	text, _, _ := bytes.Cut(data, []byte("\n"))
	return len(text) - len(bytes.TrimLeft(text, " ")) + 1
}

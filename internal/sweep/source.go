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
}{
	{"did not find expected key", "the indentation here does not fit", "keys of one map stand in one column", 1},
	{"did not find expected '-' indicator", "the list ends here, but something of the same indentation follows", "items of one list stand in one column and begin with `- `", 1},
	{"did not find expected ',' or", "a [list] or {map} that begins here is not closed, or a comma is missing", "close it with ] or }", 1},
	{"did not find expected node content", "a value is missing inside [ ] or { }", "", 1},
	{"could not find expected ':'", "a key without a colon", "write `key: value`, with a space after the colon", 0},
	{"mapping values are not allowed", "a second colon in one value, or a key that is indented too far", "quote a value that holds `: `", 0},
	{"found character that cannot start any token", "a value cannot begin with this character", "quote values that begin with @, ` or %", 0},
	{"found unexpected end of stream", "the file ends inside a quoted text", "close the quote", 0},
	{"unknown escape character", "an unknown escape in a quoted text", `inside "…" write \\ for a backslash, or use '…'`, 0},
	{"found incompatible YAML document", "a %YAML line that the parser does not take", "remove it", 0},
	{"exceeded max depth", "the file is nested too deep", "a sweep file needs a handful of levels", 0},
	{"block sequence entries are not allowed", "a list item cannot stand here", "put it on its own line, indented below its key", 0},
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
			break
		}
	}
	p.Pos = matrix.Pos{Line: line, Column: firstColumn(data, line)}
	return p
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

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/mattn/go-runewidth"
)

// wrap breaks a text at spaces so that no line is wider than width; a word that
// does not fit is broken after its commas, as names of configurations need, and
// only where it has none it sticks out. The indentation of the text is kept for
// all its lines.
func wrap(text string, width int) []string {
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	return hang(strings.Fields(text), indent, indent+"  ", width)
}

// hang fills lines with words: the first begins with first, the others with rest.
func hang(words []string, first, rest string, width int) []string {
	var lines []string
	line, empty := first, true
	put := func(piece, glue string) {
		switch {
		case empty:
			line += piece
		case runewidth.StringWidth(line)+runewidth.StringWidth(glue)+runewidth.StringWidth(piece) > width:
			lines = append(lines, line)
			line = rest + piece
		default:
			line += glue + piece
		}
		empty = false
	}
	for _, word := range words {
		if runewidth.StringWidth(rest)+runewidth.StringWidth(word) <= width {
			put(word, " ")
			continue
		}
		glue := " "
		for piece := range strings.SplitAfterSeq(word, ",") {
			put(piece, glue)
			glue = ""
		}
	}
	return append(lines, line)
}

// tell writes a message for a person, line by line: wrapped on a terminal, as it
// is for everything else, where it may be searched.
func tell(w io.Writer, text string) {
	width := 0
	if f, ok := w.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		width = textWidth(w)
	}
	for line := range strings.SplitSeq(text, "\n") {
		for _, part := range fit(printable(line), width) {
			fmt.Fprintln(w, part)
		}
	}
}

// fit wraps a line that is wider than width; 0 is any width. Lines that fit keep
// their spaces: carets stand below their places.
func fit(line string, width int) []string {
	if width == 0 || runewidth.StringWidth(line) <= width {
		return []string{line}
	}
	return wrap(line, width)
}

// helpWidth is how wide the help is written.
const helpWidth = 80

// helpWriter wraps what the CLI library writes of a command, which knows no
// width: a second column stays a column.
type helpWriter struct {
	out  io.Writer
	rest []byte // of a line that is not over
}

// Write keeps the end of what it is given until its line is over.
func (h *helpWriter) Write(text []byte) (int, error) {
	h.rest = append(h.rest, text...)
	for {
		i := bytes.IndexByte(h.rest, '\n')
		if i < 0 {
			return len(text), nil
		}
		for _, line := range helpLines(string(h.rest[:i])) {
			if _, err := fmt.Fprintln(h.out, line); err != nil {
				return 0, err
			}
		}
		h.rest = h.rest[i+1:]
	}
}

// narrowColumn is up to where a second column is worth keeping.
const narrowColumn = 40

// helpLines wraps one line of the help.
func helpLines(line string) []string {
	if runewidth.StringWidth(line) <= helpWidth {
		return []string{line}
	}
	words := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(words)]
	gap := strings.Index(words, "  ")
	if gap < 0 {
		return hang(strings.Fields(words), indent, indent, helpWidth)
	}
	second := strings.TrimLeft(words[gap:], " ")
	column := len(line) - len(second)
	if column > narrowColumn {
		rest := indent + "      "
		return append([]string{indent + words[:gap]}, hang(strings.Fields(second), rest, rest, helpWidth)...)
	}
	return hang(strings.Fields(second), line[:column], strings.Repeat(" ", column), helpWidth)
}

// unbroken joins the lines of each paragraph; lines that are set in, examples,
// stay lines.
func unbroken(text string) string {
	var b strings.Builder
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		b.WriteString(line)
		if i+1 == len(lines) {
			break
		}
		next := lines[i+1]
		if line == "" || next == "" || strings.HasPrefix(line, " ") || strings.HasPrefix(next, " ") {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

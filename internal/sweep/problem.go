package sweep

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sweep/internal/matrix"
)

// Problem is one thing that is wrong with a sweep file.
type Problem = matrix.Problem

// FileError is everything that is wrong with a sweep file, in file order. A
// person meets it, so it prints each place, its line, a caret and what to do.
type FileError struct {
	File     string
	Problems []Problem
	More     int // further problems that were not kept

	source []byte
}

// maxProblems bounds what is kept of one file: a person mends a few at a time.
const maxProblems = 40

func newFileError(file string, source []byte, problems []Problem) *FileError {
	problems = slices.Clone(problems)
	slices.SortStableFunc(problems, func(a, b Problem) int {
		if a.Pos.Line != b.Pos.Line {
			return a.Pos.Line - b.Pos.Line
		}
		return a.Pos.Column - b.Pos.Column
	})
	problems = slices.CompactFunc(problems, func(a, b Problem) bool { return a == b })
	e := &FileError{File: file, Problems: problems, source: source}
	if len(problems) > maxProblems {
		e.Problems, e.More = problems[:maxProblems], len(problems)-maxProblems
	}
	return e
}

func (e *FileError) Error() string {
	var b strings.Builder
	lines := strings.Split(string(e.source), "\n")
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(at(e.File, p.Pos) + ": " + Printable(p.Message))
		if p.Pos.Line > 0 && p.Pos.Line <= len(lines) {
			b.WriteString(excerpt(lines[p.Pos.Line-1], p.Pos))
		}
		if p.Hint != "" {
			b.WriteString("\n        " + Printable(p.Hint))
		}
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\n%s: and %d more", Printable(e.File), e.More)
	}
	return b.String()
}

// at is file:line:column, as editors and terminals make it clickable.
func at(file string, p matrix.Pos) string {
	text := Printable(file)
	if p.Line > 0 {
		text += fmt.Sprintf(":%d:%d", p.Line, max(p.Column, 1))
	}
	return text
}

// excerptWidth is how much of a long line is shown around the caret.
const excerptWidth = 70

// excerpt is the source line with a caret below the place. A line may be the
// whole megabyte of a file, so only what is shown of it is looked at.
func excerpt(line string, p matrix.Pos) string {
	line = strings.TrimRight(line, "\r\n ")
	caret := max(p.Column-1, 0)
	before, after := "", ""
	if from := caret - excerptWidth/2; from > 0 && utf8.RuneCountInString(line) > excerptWidth {
		from = min(from, utf8.RuneCountInString(line)-excerptWidth)
		line = line[byteOf(line, from):]
		before, caret = "…", caret-from+1
	}
	if end := byteOf(line, excerptWidth); end < len(line) {
		line, after = strings.TrimRight(line[:end], " "), "…"
	}
	line = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' ' // a tab too: the caret has to stay below its place
		}
		return r
	}, line)
	return fmt.Sprintf("\n%5d | %s%s%s\n      | %s^", p.Line, before, line, after, strings.Repeat(" ", min(caret, excerptWidth+1)))
}

// byteOf is where rune n of a text begins, or its end.
func byteOf(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// Printable makes text that came from a file or a server safe to show on one
// line: control, format and other invisible characters become escapes.
func Printable(s string) string {
	clean := true
	for _, r := range s {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError:
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				fmt.Fprintf(&b, `\x%02x`, s[i])
				continue
			}
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

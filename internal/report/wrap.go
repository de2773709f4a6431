package report

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// cells measures text in terminal cells. The width of ambiguous characters is
// fixed, so that a report does not depend on who writes it.
func cells(s string) int {
	c := runewidth.Condition{StrictEmojiNeutral: true}
	return c.StringWidth(s)
}

func padRight(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-cells(s)))
}

func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-cells(s))) + s
}

// together keeps a figure and its unit, a mark and its meaning on one line; a
// bare "tok/s" at the start of a line would be read without the word before it.
var together = strings.NewReplacer(
	" output tok/s", "\u00a0output\u00a0tok/s", " input tok/s", "\u00a0input\u00a0tok/s", " total tok/s", "\u00a0total\u00a0tok/s",
	"output tok/s", "output\u00a0tok/s", "(host ", "(host\u00a0",
	" %", "\u00a0%", " ms", "\u00a0ms", " ≤ ", "\u00a0≤\u00a0", "n = ", "n\u00a0=\u00a0",
	" · ", "\u00a0· ", " | ", "\u00a0| ", "repeat ", "repeat\u00a0", "attempt ", "attempt\u00a0", "driver ", "driver\u00a0", "kernel ", "kernel\u00a0",
	"✗ ", "✗\u00a0", "~ ", "~\u00a0", "† ", "†\u00a0", "– ", "–\u00a0")

// spaced writes a name of axis=label pairs for reading, with a space after each
// comma, so that it is wrapped there; commas inside a number stay as they are.
func spaced(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		b.WriteRune(r)
		if r == ',' && i+1 < len(runes) && runes[i+1] != ' ' && !inNumber(runes, i) {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// inNumber tells whether the rune at i stands between two digits.
func inNumber(runes []rune, i int) bool {
	return i > 0 && i+1 < len(runes) && isDigit(runes[i-1]) && isDigit(runes[i+1])
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// wrap breaks text into lines of at most width cells: at spaces, and inside a
// word only when it is wider than a line.
func wrap(s string, width int) []string {
	width = max(width, 8)
	lines := []string{""}
	for i, word := range strings.Split(together.Replace(s), " ") {
		glue := " "
		if i == 0 {
			glue = ""
		}
		for _, piece := range pieces(word, width) {
			last := &lines[len(lines)-1]
			if *last != "" && cells(*last)+cells(glue)+cells(piece) > width {
				lines = append(lines, piece)
			} else {
				*last += glue + piece
			}
			glue = ""
		}
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "\u00a0", " ")
	}
	return lines
}

// pieces cuts a word that is wider than a line: after the last slash or
// comma, unless that leaves most of the line empty, else where the line ends, but
// not inside a number that would fit on the next one.
func pieces(word string, width int) []string {
	var list []string
	rest := []rune(word)
	for cells(string(rest)) > width {
		n, used := 0, 0
		for n < len(rest) && used+cells(string(rest[n])) <= width {
			used += cells(string(rest[n]))
			n++
		}
		if n == 0 || n == len(rest) {
			break
		}
		cut := n
		for cut > 0 && splitsNumber(rest, cut) {
			cut--
		}
		if cut == 0 {
			cut = n
		}
		for i := n; i > n/3; i-- {
			if (rest[i-1] == '/' || rest[i-1] == ',') && !splitsNumber(rest, i) {
				cut = i
				break
			}
		}
		list, rest = append(list, string(rest[:cut])), rest[cut:]
	}
	return append(list, string(rest))
}

// splitsNumber tells whether a cut before the rune at i has digits of one
// number on both sides.
func splitsNumber(runes []rune, i int) bool {
	before, after := runes[i-1], runes[i]
	switch {
	case isDigit(before) && isDigit(after):
		return true
	case after == ',' || after == '.':
		return inNumber(runes, i)
	case before == ',' || before == '.':
		return inNumber(runes, i-1)
	}
	return false
}

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

// together keeps a figure and its unit on one line; a bare "tok/s" at the start
// of a line would be read without the word before it.
var together = strings.NewReplacer(
	" output tok/s", "\u00a0output\u00a0tok/s", " input tok/s", "\u00a0input\u00a0tok/s", " total tok/s", "\u00a0total\u00a0tok/s",
	"output tok/s", "output\u00a0tok/s", "(host ", "(host\u00a0",
	" %", "\u00a0%", " ms", "\u00a0ms", "n = ", "n\u00a0=\u00a0")

// wrap breaks text into lines of at most width cells: at spaces and after
// commas where it can, inside a word where it must.
func wrap(s string, width int) []string {
	width = max(width, 8)
	var lines []string
	defer func() {
		for i := range lines {
			lines[i] = strings.ReplaceAll(lines[i], "\u00a0", " ")
		}
	}()
	for _, word := range strings.Split(together.Replace(s), " ") {
		glue := " "
		if len(lines) == 0 {
			glue, lines = "", []string{""}
		}
		last := &lines[len(lines)-1]
		if cells(*last)+cells(glue)+cells(word) <= width {
			*last += glue + word
			continue
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
	return lines
}

// pieces cuts a word after its commas, and anywhere when a part is still wider
// than a line.
func pieces(word string, width int) []string {
	var list []string
	for _, part := range strings.SplitAfter(word, ",") {
		for cells(part) > width {
			head, n := "", 0
			for _, r := range part {
				w := cells(string(r))
				if n+w > width {
					break
				}
				head, n = head+string(r), n+w
			}
			if head == "" {
				break
			}
			list, part = append(list, head), part[len(head):]
		}
		if part != "" {
			list = append(list, part)
		}
	}
	return list
}

package report

import (
	"fmt"
	"io"
	"strings"
)

// TextOptions says what the terminal can do.
type TextOptions struct {
	Width int  // cells a line; 0 means 100, less than 60 means 60
	Color bool // colour says nothing that the text does not say too
}

// style is how a piece of text is set off.
type style string

// The styles, as SGR parameters.
const (
	plain style = ""
	bold  style = "1"
	dim   style = "2"
	red   style = "31"
	green style = "32"
)

// printer writes lines and keeps the first error.
type printer struct {
	w     io.Writer
	width int
	color bool
	lines int // written so far
	err   error
}

func newPrinter(w io.Writer, o TextOptions) *printer {
	if o.Width <= 0 {
		o.Width = 100
	}
	return &printer{w: w, width: max(o.Width, 60), color: o.Color}
}

// paint sets text off. The text must be clean already.
func (p *printer) paint(s style, text string) string {
	if !p.color || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// line writes one line as it is, without blanks at its end.
func (p *printer) line(text string) {
	p.lines++
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, strings.TrimRight(text, " "))
	}
}

// rule draws a line under a heading, of so many cells as far as they fit.
func (p *printer) rule(cells int) {
	p.line(p.paint(dim, strings.Repeat("─", min(cells, p.width))))
}

// para writes cleaned text after a lead, wrapped, its further lines set in as
// far as the lead is wide.
func (p *printer) para(s style, lead, text string) {
	indent := cells(lead)
	for i, l := range wrap(clean(text), p.width-indent) {
		if i > 0 {
			lead = strings.Repeat(" ", indent)
		}
		p.line(lead + p.paint(s, l))
	}
}

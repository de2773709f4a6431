package report

import (
	"io"
	"strings"
)

// Text writes the table for a terminal. At every width everything is there:
// what does not fit beside a name goes into a further block, and names are
// wrapped, never cut.
func (t Table) Text(w io.Writer, o TextOptions) error {
	p := newPrinter(w, o)
	t.head(p)
	for _, l := range t.Levels {
		p.line("")
		t.level(p, l)
	}
	t.failures(p)
	t.gaps(p)
	if len(t.Closing) > 0 {
		p.line("")
		p.line(p.paint(bold, "In short"))
		for _, s := range t.Closing {
			p.para(plain, "  ", s)
		}
	}
	return p.err
}

func (t Table) head(p *printer) {
	p.para(bold, "", t.Title)
	for _, m := range t.Marks {
		p.para(yellow, "", m+": "+markMeaning(m))
	}
	for _, s := range t.Sides {
		p.para(plain, "", s)
	}
	for _, h := range t.Hosts {
		p.para(dim, "", h)
	}
	if len(t.Common) > 0 {
		p.para(plain, "common to all: ", strings.Join(t.Common, ", "))
	}
	if t.Baseline != "" {
		p.para(plain, "baseline: ", t.Baseline)
	}
	if len(t.Levels) > 0 {
		p.para(dim, "", legend(t))
	}
	for _, w := range t.Warnings {
		p.para(yellow, "! ", w)
	}
}

func markMeaning(mark string) string {
	switch mark {
	case "SIMULATED":
		return "every figure below comes from a simulated server, none from real hardware"
	case "IMPORTED":
		return "every figure below was measured by another tool and read from its files"
	default:
		return ""
	}
}

// legend explains what the columns and marks of this table are.
func legend(t Table) string {
	var repeated, marked bool
	for _, l := range t.Levels {
		for _, r := range l.Rows {
			repeated = repeated || r.N > 1 || r.Planned > 1
			marked = marked || mark(r) != ""
		}
	}
	s := "output tok/s: generated tokens only, over the whole window"
	if repeated {
		s += " · figures are medians over n runs, range is lowest to highest"
	}
	if marked {
		s += " · marks: ! suspect, ✗ invalid or failed (not ranked), dot: a note only"
	}
	return s
}

func gradeMark(grade string) string {
	switch grade {
	case "invalid":
		return "✗"
	case "suspect":
		return "!"
	default:
		return "·"
	}
}

func gradeStyle(grade string) style {
	switch grade {
	case "invalid":
		return red
	case "suspect":
		return yellow
	default:
		return dim
	}
}

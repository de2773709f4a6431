package report

import (
	"io"
	"slices"
	"strings"
)

// screen is how many lines are seen at once on the smallest of terminals.
const screen = 24

// Text writes the table for a terminal: a block a level, then what is kept for
// the record, what went wrong, and the best of each level at the end, where
// the eye is. At every width everything is there: names are wrapped, never cut.
func (t Table) Text(w io.Writer, o TextOptions) error {
	p := newPrinter(w, o)
	t.head(p)
	s := arrange(t, p.width)
	for i := range t.Levels {
		p.line("")
		t.level(p, s, i)
	}
	t.goals(p)
	if !s.record {
		t.record(p, s.form)
	}
	t.failures(p)
	t.gaps(p)
	t.inShort(p)
	if p.lines > screen && len(t.Marks) > 0 {
		p.line("")
		t.marks(p, "above")
	}
	return p.err
}

func (t Table) head(p *printer) {
	p.para(bold, "", t.Title)
	t.marks(p, "below")
	entry := func(name string, texts ...string) {
		for _, text := range texts {
			p.para(plain, padRight(name, 10), text)
			name = ""
		}
	}
	entry("sides", t.Sides...)
	if when := t.when(); when != "" {
		entry("measured", when)
	}
	if len(t.Hosts) > 1 {
		entry("hosts", t.Hosts...)
	} else {
		entry("host", t.Hosts...)
	}
	if t.Only != nil {
		entry("only", t.Only.String())
	}
	if t.Reused != "" {
		entry("reused", t.Reused)
	}
	if t.Baseline != "" {
		entry("baseline", spaced(t.Baseline))
	}
	if t.changes {
		entry("", meaningOfNames)
	}
	for _, r := range t.Recipes {
		entry("", spaced(r.Name)+" = "+spaced(r.Means))
	}
	if len(t.Common) > 0 {
		entry("in common", strings.Join(t.Common, ", "))
	}
	entry("inert", t.Inert...)
	if len(t.Levels) > 0 {
		entry("legend", t.legend())
	}
	for _, w := range t.Warnings {
		p.para(plain, "! ", w)
	}
}

// meaningOfNames stands under the full name of the baseline.
const meaningOfNames = "rows are called by what they change of it"

// marks says what is to be known of every figure.
func (t Table) marks(p *printer, where string) {
	for _, m := range t.Marks {
		p.para(bold, "", m+": "+markMeaning(m, where))
	}
}

func markMeaning(mark, where string) string {
	switch mark {
	case markSimulated:
		return "every figure " + where + " is from a simulated server, none from hardware"
	case "IMPORTED":
		return "every figure " + where + " was measured by another tool and read from its files"
	default:
		return ""
	}
}

// when is the time of the measurements, in the reader's zone.
func (t Table) when() string {
	if t.From == nil || t.To == nil {
		return ""
	}
	const day, clock = "2006-01-02", "15:04"
	from, to := t.From.Local(), t.To.Local()
	s := from.Format(day + " " + clock)
	if from.Format("MST") != to.Format("MST") {
		s += from.Format(" MST") // the clocks were changed in between
	}
	switch {
	case from.Format(day) != to.Format(day):
		s += " to " + to.Format(day+" "+clock)
	case from.Format(clock) != to.Format(clock):
		s += " to " + to.Format(clock)
	}
	return s + to.Format(" MST")
}

// legend explains the columns of a table and the marks that occur in it.
func (t Table) legend() string {
	words := []string{t.meaningOfOutput()}
	if repeated(t) {
		words = append(words, "figures are medians over the runs", "± %: how far the farthest run lies from the median")
	}
	if to := t.against(); to != "" {
		words = append(words, "Δ: output tok/s against "+to, "n a/b: runs of the row/of "+to)
	}
	if t.Goodput != "" {
		words = append(words, meaningOfGoodput(t.Goodput)+", a second and as % of all issued")
	} else if hasGoodput(t) {
		words = append(words, "goodput: requests within the limits that each level names, a second and as % of all issued")
	}
	words = append(words, "per stream: output tok/s that one user sees")
	for _, m := range []struct {
		meaning string
		occurs  func(Row) bool
	}{
		{meaningOfTilde(), func(r Row) bool { return r.Delta != nil && r.Delta.Unproven }},
		{"† measured on different hosts", func(r Row) bool { return r.Delta != nil && r.Delta.Hosts }},
		{"✗ invalid or failed, not ranked", func(r Row) bool { return place(r) == "✗" }},
		{"– not ranked", func(r Row) bool { return place(r) == "–" }},
	} {
		if t.anyRow(m.occurs) {
			words = append(words, m.meaning)
		}
	}
	return strings.Join(words, " · ")
}

// meaningOfOutput stands above every comparison.
func (t Table) meaningOfOutput() string {
	const meaning = "output tok/s: generated tokens only, over the whole window"
	if t.anyRow(ofSteady) {
		return meaning + " or, where a footnote says so, in steady state"
	}
	return meaning
}

func (t Table) anyRow(is func(Row) bool) bool {
	return slices.ContainsFunc(t.Levels, func(l Level) bool { return slices.ContainsFunc(l.Rows, is) })
}

// repeated tells whether any row has more than one run behind its figures.
func repeated(t Table) bool {
	return t.anyRow(func(r Row) bool { return r.Figures.Output.N > 1 })
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
	default:
		return plain
	}
}

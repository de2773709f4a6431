package report

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes the table for a page or an issue: one table a level.
func (t Table) Markdown(w io.Writer) error {
	m := &mdWriter{p: newPrinter(w, TextOptions{})}
	m.line("# " + markdown(t.Title))
	m.line("")
	for _, mark := range t.Marks {
		m.line("> **" + mark + "**: " + markMeaning(mark, "below"))
		m.line("")
	}
	if when := t.when(); when != "" {
		m.items([]string{"measured: " + when})
	}
	m.items(t.Sides)
	m.items(t.Hosts)
	if t.Only != nil {
		m.items([]string{"only: " + t.Only.String()})
	}
	if len(t.Common) > 0 {
		m.items([]string{"common to all: " + strings.Join(t.Common, ", ")})
	}
	if t.Reused != "" {
		m.items([]string{"reused: " + t.Reused})
	}
	if t.Baseline != "" {
		text := "baseline: " + t.Baseline
		if t.changes {
			text += "; " + meaningOfNames
		}
		m.items([]string{text})
	}
	for _, r := range t.Recipes {
		m.items([]string{r.Name + " = " + r.Means})
	}
	for _, sentence := range t.Inert {
		m.items([]string{"inert: " + sentence})
	}
	if len(t.Levels) > 0 {
		m.items([]string{markdownLegend(t)})
	}
	for _, warning := range t.Warnings {
		m.line("- **Warning:** " + markdown(warning))
	}
	for _, l := range t.Levels {
		t.markdownLevel(m, l)
	}
	t.markdownGoals(m)
	if len(t.Failures) > 0 {
		m.heading("Failures")
		for _, f := range t.Failures {
			m.line(fmt.Sprintf("- ✗ **%s** (%s): %s", markdown(f.Name), markdown(strings.Join(f.Where, "; ")), markdown(failureWords(f))))
			for _, s := range []struct{ name, text string }{{"", f.Line}, {"", f.Hint}, {"log: ", logWords(f)}} {
				if s.text != "" {
					m.line("  - " + s.name + markdown(s.text))
				}
			}
		}
	}
	if len(t.NotRun) > 0 {
		m.heading("Not measured")
		for _, g := range t.NotRun {
			m.items([]string{g.Reason + ": " + strings.Join(g.What, "; ")})
		}
	}
	if len(t.Closing) > 0 {
		m.heading("In short")
		m.items(t.Closing)
		m.items(t.goalsInShort())
		m.items(t.Cautions)
	}
	return m.p.err
}

// markdownLegend explains what the figures and the marks that occur are.
func markdownLegend(t Table) string {
	words := []string{t.meaningOfOutput()}
	if repeated(t) {
		words = append(words, "figures are medians over n runs, range is lowest to highest")
	}
	if t.Goodput != "" {
		words = append(words, meaningOfGoodput(t.Goodput))
	}
	if t.anyRow(func(r Row) bool { return r.Delta != nil && r.Delta.Unproven }) {
		words = append(words, meaningOfTilde())
	}
	if t.anyRow(func(r Row) bool { return r.Delta != nil && r.Delta.Hosts }) {
		words = append(words, "† measured on different hosts")
	}
	for _, m := range []struct{ mark, meaning string }{{"!", "suspect"}, {"✗", "invalid or failed, not ranked"}, {"·", "a note only"}} {
		if t.anyRow(func(r Row) bool { return strings.HasPrefix(mark(r), m.mark) }) {
			words = append(words, m.mark+" "+m.meaning)
		}
	}
	return strings.Join(words, "; ")
}

func (t Table) markdownLevel(m *mdWriter, l Level) {
	head := markdown(l.Heading)
	for _, mark := range l.Marks {
		head += " · **" + mark + "**"
	}
	m.line("")
	m.line("## " + head)
	m.line("")
	if t.Goodput == "" && l.Goodput != "" {
		m.line(markdown(meaningOfGoodput(l.Goodput)))
		m.line("")
	}
	cols := columns(t, l)
	titles, rule := []string{"#", "", "configuration"}, []string{"--:", ":--", ":--"}
	for _, c := range cols {
		titles = append(titles, strings.TrimSpace(c.group+" "+c.head))
		rule = append(rule, "--:")
	}
	m.row(titles)
	m.row(rule)
	for _, r := range l.Rows {
		row := []string{rankOf(r), markdown(mark(r)), markdown(reasoned(r))}
		for i, c := range cols {
			switch {
			case r.Verdict != "":
				row = append(row, markdown(c.cell(r)))
			case i == 0:
				row = append(row, markdown(r.Reason))
			default:
				row = append(row, "")
			}
		}
		m.row(row)
	}
	if len(l.Footnotes) > 0 {
		m.line("")
	}
	for _, f := range l.Footnotes {
		m.line(fmt.Sprintf("- %s%d %s, %s: %s", markdown(strings.TrimSpace(gradeMark(f.Grade))), f.Number, f.Grade, markdown(f.Code), markdown(f.Text)))
	}
}

// mdWriter writes lines of Markdown. What it is given is escaped already,
// except by items.
type mdWriter struct{ p *printer }

func (m *mdWriter) line(s string) { m.p.line(s) }

func (m *mdWriter) heading(s string) {
	m.line("")
	m.line("## " + s)
	m.line("")
}

func (m *mdWriter) items(list []string) {
	for _, s := range list {
		m.line("- " + markdown(s))
	}
}

func (m *mdWriter) row(cells []string) { m.line("| " + strings.Join(cells, " | ") + " |") }

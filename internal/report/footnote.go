package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"sweep/internal/sweep"
	"sweep/internal/verdict"
)

// Codes of findings that are shown as marks, or once at the head, instead of as
// footnotes.
const (
	codeSimulated = "simulated"
	codeImported  = "imported"
	codeInert     = "inert"
)

// markSimulated stands at everything that comes from a simulated server.
const markSimulated = "SIMULATED"

// marks says in capitals what a reader of any figure of the run must know.
func (b *builder) marks(run sweep.Run) []string {
	simulated, imported := false, false
	for _, r := range run.Records {
		simulated = simulated || r.Fingerprint.Server != nil && r.Fingerprint.Server.Simulated || simulator(r.Configuration.Command)
	}
	for _, m := range run.Measurements {
		simulated = simulated || m.Simulated
	}
	for _, f := range b.in.Findings {
		if f.Run == run.Name {
			simulated = simulated || f.Code == codeSimulated
			imported = imported || f.Code == codeImported
		}
	}
	var marks []string
	if simulated {
		marks = append(marks, markSimulated)
	}
	if imported {
		marks = append(marks, "IMPORTED")
	}
	return marks
}

// marksWithoutFigures are the marks that any run has, or was planned to have,
// for a table in which nothing was measured: no figure can be taken for
// another's.
func (b *builder) marksWithoutFigures() []string {
	var marks []string
	for _, s := range b.in.Subjects {
		if simulator(s.Config.Command) {
			marks = append(marks, markSimulated)
		}
		for _, run := range s.Runs {
			marks = append(marks, b.marks(run)...)
		}
	}
	slices.Sort(marks)
	return slices.Compact(marks)
}

// simulator tells that a command starts sweep's own simulator: known even of a
// server that failed before it could say so.
func simulator(command []string) bool {
	return len(command) > 1 && path.Base(command[0]) == "sweep" && command[1] == "sim"
}

// footnotes numbers the findings of a level and refers the rows to them. What
// is the same on several rows is said once.
func (b *builder) footnotes(rows []Row, key string) []Footnote {
	var notes []Footnote
	for i := range rows {
		for _, f := range b.rowFindings(rows[i], key) {
			at := slices.IndexFunc(notes, func(n Footnote) bool { return n.Code == f.Code && n.Grade == f.Grade && n.Text == f.Text })
			if at < 0 {
				at = len(notes)
				f.Number = at + 1
				notes = append(notes, f)
			}
			rows[i].Notes = append(rows[i].Notes, notes[at].Number)
		}
	}
	return notes
}

// rowFindings are the findings of all runs of a row at a level, the heavy ones
// first, each code and grade once.
func (b *builder) rowFindings(r Row, key string) []Footnote {
	type said struct{ repeats, seen, limit string }
	texts := map[Footnote][]said{} // by code and grade
	var order []Footnote
	measured := 0
	for i, run := range r.cell.runs {
		if measurementOf(run, key) == nil {
			continue
		}
		measured++
		for _, f := range b.in.Findings {
			if f.Run != run.Name || f.Key != "" && f.Key != key || f.Code == codeSimulated || f.Code == codeImported || f.Code == codeInert {
				continue
			}
			kind := Footnote{Code: f.Code, Grade: string(f.Grade)}
			if _, ok := texts[kind]; !ok {
				order = append(order, kind)
			}
			texts[kind] = append(texts[kind], said{repeatOf(r.cell.runs, i), f.Seen, f.Limit})
		}
	}
	weight := map[string]int{string(verdict.Invalid): 0, string(verdict.Suspect): 1, string(verdict.Note): 2}
	slices.SortStableFunc(order, func(x, y Footnote) int { return cmp.Compare(weight[x.Grade], weight[y.Grade]) })
	for i := range order {
		all := texts[order[i]]
		same := len(all) == measured && !slices.ContainsFunc(all, func(s said) bool { return s.seen != all[0].seen })
		var parts []string
		for _, s := range all {
			text := s.seen
			if !same {
				text = s.repeats + ": " + s.seen
			}
			if s.limit != "" {
				text += " (limit: " + s.limit + ")"
			}
			parts = append(parts, text)
			if same {
				break
			}
		}
		order[i].Text = strings.Join(parts, "; ")
		if order[i].Grade == string(verdict.Invalid) && r.Verdict != string(verdict.IsInvalid) {
			order[i].Text = "left out of the figures: " + order[i].Text
		}
	}
	return order
}

// repeatOf tells one run of a row from the others: by its repeat where that
// does, else by its name.
func repeatOf(runs []sweep.Run, i int) string {
	repeat := func(r sweep.Run) int {
		if len(r.Records) == 0 {
			return 0
		}
		return r.Records[0].Repeat
	}
	mine, n := repeat(runs[i]), 0
	for _, r := range runs {
		if repeat(r) == mine {
			n++
		}
	}
	if mine == 0 || n > 1 {
		return "run " + runs[i].Name
	}
	return fmt.Sprintf("repeat %d", mine)
}

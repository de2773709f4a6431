package report

import (
	"fmt"
	"reflect"
	"slices"

	"sweep/internal/sweep"
	"sweep/internal/verdict"
)

// Build lays out a comparison. It never fails: what cannot be shown is named.
func Build(in Input) Table {
	b := &builder{in: in}
	b.names, b.common = nameSubjects(in.Subjects)
	b.spread()
	t := Table{
		Schema:   sweep.Schema,
		Title:    in.Title,
		Sides:    in.Sides,
		Hosts:    b.hosts.lines(),
		Common:   b.common,
		Baseline: b.baseline(),
		Warnings: b.warnings(),
		Levels:   b.levels(),
		Failures: b.failures(),
		NotRun:   b.gaps(),
	}
	t.Marks = commonMarks(t.Levels, func(l Level) []string { return l.Marks })
	if len(t.Marks) == 0 {
		t.Marks = b.recordMarks()
	}
	t.Warnings = append(t.Warnings, b.apart(t.Levels)...)
	against := ""
	switch {
	case len(in.Sides) > 1:
		against = "side A"
	case t.Baseline != "":
		against = "the baseline"
	}
	for _, l := range t.Levels {
		t.Closing = append(t.Closing, closing(l, against))
	}
	cleanAll(reflect.ValueOf(&t))
	return t
}

// builder holds what the parts of a table share while it is built.
type builder struct {
	in     Input
	names  []string // of the subjects
	common []string
	hosts  hosts
	cells  []cell // a subject on a host: a row of every level
}

// cell is the runs of one subject on one host: runs of different hosts are
// never merged.
type cell struct {
	subject, host int
	runs          []sweep.Run
}

func (b *builder) spread() {
	for i, s := range b.in.Subjects {
		first := len(b.cells)
		for _, run := range s.Runs {
			host := b.hosts.of(run)
			at := slices.IndexFunc(b.cells[first:], func(c cell) bool { return c.host == host })
			if at < 0 {
				b.cells = append(b.cells, cell{subject: i, host: host})
				at = len(b.cells) - 1 - first
			}
			b.cells[first+at].runs = append(b.cells[first+at].runs, run)
		}
	}
}

// rowName is the subject's name, with the host where there is more than one.
func (b *builder) rowName(c cell) string {
	if len(b.hosts.found) > 1 && c.host >= 0 {
		return fmt.Sprintf("%s (host %d)", b.names[c.subject], c.host+1)
	}
	return b.names[c.subject]
}

// baseline names what every row is compared with, when that is one thing.
func (b *builder) baseline() string {
	if len(b.in.Sides) > 1 {
		return ""
	}
	for _, s := range b.in.Subjects {
		if s.Against >= 0 {
			return b.names[s.Against]
		}
	}
	return ""
}

func (b *builder) verdictOf(run sweep.Run, key string) verdict.Verdict {
	return verdict.Of(b.in.Findings, run.Name, key)
}

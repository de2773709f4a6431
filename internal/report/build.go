package report

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"sweep/internal/sweep"
	"sweep/internal/verdict"
)

// Build lays out a comparison. It never fails: what cannot be shown is named.
func Build(in Input) Table {
	b := &builder{in: in}
	b.name()
	b.spread()
	from, to := b.measured()
	t := Table{
		Schema:   sweep.Schema,
		Title:    in.Title,
		From:     from,
		To:       to,
		Sides:    in.Sides,
		Hosts:    b.hosts.lines(),
		Only:     narrowedBy(in.Selection),
		Common:   b.common,
		Baseline: b.baseline(),
		Recipes:  b.recipes,
		changes:  b.changes,
		Reused:   b.reused(),
		Inert:    b.inert(),
		Warnings: b.warnings(),
		Levels:   b.levels(),
		Failures: b.failures(),
		NotRun:   b.gaps(),
	}
	t.Marks = commonMarks(t.Levels, func(l Level) []string { return l.Marks })
	if len(t.Levels) == 0 {
		t.Marks = b.marksWithoutFigures()
	}
	t.Goals = b.goals(t.Marks)
	t.Goodput = commonLimits(t.Levels)
	t.Warnings = append(t.Warnings, b.apart(t.Levels)...)
	for _, l := range t.Levels {
		t.Closing = append(t.Closing, t.closing(l))
	}
	t.Cautions = cautions(t.Levels)
	cleanAll(reflect.ValueOf(&t))
	return t
}

// narrowedBy is a copy: a table is cleaned in place.
func narrowedBy(s *Selection) *Selection {
	if s == nil {
		return nil
	}
	own := *s
	own.Only, own.LeftOut = slices.Clone(s.Only), slices.Clone(s.LeftOut)
	return &own
}

// builder holds what the parts of a table share while it is built.
type builder struct {
	in     Input
	names  []string // of the subjects
	common []string
	hosts  hosts
	cells  []cell // a subject on a host: a row of every level

	changes bool // names are changes of the baseline
	recipes []Recipe
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

// baseline is the full name of what every row is compared with, when that is
// one thing.
func (b *builder) baseline() string {
	if len(b.in.Sides) > 1 {
		return ""
	}
	for _, s := range b.in.Subjects {
		if s.Against >= 0 {
			if b.changes {
				return b.in.Subjects[s.Against].Config.Name
			}
			return b.names[s.Against]
		}
	}
	return ""
}

// measured is from when to when the runs were made; nil when nothing tells.
func (b *builder) measured() (from, to *time.Time) {
	for _, s := range b.in.Subjects {
		if s.Hidden {
			continue
		}
		for _, run := range s.Runs {
			for _, r := range run.Records {
				started, ended := r.Started, r.Started
				if r.Ended != nil {
					ended = *r.Ended
				}
				if started.IsZero() {
					continue
				}
				if from == nil || started.Before(*from) {
					from = &started
				}
				if to == nil || ended.After(*to) {
					to = &ended
				}
			}
		}
	}
	return from, to
}

func (b *builder) verdictOf(run sweep.Run, key string) verdict.Verdict {
	return verdict.Of(b.in.Findings, run.Name, key)
}

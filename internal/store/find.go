package store

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sweep/internal/matrix"
	"sweep/internal/sweep"
)

// Kind says what a pattern turned out to name.
type Kind string

// The kinds of things that FindRuns finds, in the order it looks for them.
const (
	KindRun           Kind = "run"
	KindConfiguration Kind = "configuration"
	KindNight         Kind = "night"
)

// Match is what a pattern names and the runs behind it.
type Match struct {
	Kind Kind
	Name string // full: the run, the configuration's ID or name, the night's ID
	Runs []RunRef
	Note string // which night it is of, where several have that name; else empty
}

// FindRuns finds the runs that a person means: a run by its name, a
// configuration by its ID or name, a night by all that OpenNight takes; else
// the configurations that share labels (axis=label,axis=label), or runs or one
// configuration by a prefix. What is exact wins over what is not. A name that
// several nights have is that of the newest that measured it, and "baseline" is
// the baseline of the last such night.
// It fails with ErrNotFound or ErrAmbiguous.
func (d *Dir) FindRuns(pattern string) (Match, []Problem, error) {
	all, problems, err := d.allRuns()
	if err != nil {
		return Match{}, problems, fmt.Errorf("find %q: %w", pattern, err)
	}
	if pattern == "" {
		return Match{}, problems, fmt.Errorf("find runs: %w: no name was given", ErrNotFound)
	}
	if runs := filter(all, func(r RunRef) bool { return r.Run == pattern }); len(runs) > 0 {
		return Match{Kind: KindRun, Name: pattern, Runs: runs}, problems, nil
	}
	if runs := filter(all, func(r RunRef) bool { return r.ID == pattern }); len(runs) > 0 {
		return Match{Kind: KindConfiguration, Name: pattern, Runs: runs}, problems, nil
	}
	if pattern == sweep.BaselineName {
		if match, ok := d.newest(pattern); ok {
			return match, problems, nil
		}
	}
	night, notNight := d.OpenNight(pattern)
	if notNight == nil {
		refs, bad, err := night.Runs()
		return Match{Kind: KindNight, Name: night.ID(), Runs: inOrder(refs), Note: night.Namesakes()}, append(problems, bad...), err
	}
	named := filter(all, func(r RunRef) bool { return d.nameOf(r) == pattern })
	if ids := idsOf(named); len(ids) > 1 {
		if match, ok := d.newest(pattern); ok {
			return match, problems, nil
		}
		return Match{}, problems, fmt.Errorf("find %q: %w: %d configurations are called that: %s; name one of these IDs",
			pattern, ErrAmbiguous, len(ids), strings.Join(d.whence(named, ids[:min(len(ids), 8)]), ", "))
	}
	if len(named) > 0 {
		return Match{Kind: KindConfiguration, Name: pattern, Runs: named}, problems, nil
	}
	if labels := labelsOf(pattern); labels != nil {
		if runs := filter(all, func(r RunRef) bool { return d.hasLabels(r, labels) }); len(runs) > 0 {
			return Match{Kind: KindConfiguration, Name: pattern, Runs: runs}, problems, nil
		}
	}
	if errors.Is(notNight, ErrAmbiguous) {
		return Match{}, problems, notNight
	}
	if runs := filter(all, func(r RunRef) bool { return strings.HasPrefix(r.Run, pattern) }); len(runs) > 0 {
		return Match{Kind: KindRun, Name: pattern, Runs: runs}, problems, nil
	}
	runs := filter(all, func(r RunRef) bool { return strings.HasPrefix(r.ID, pattern) })
	if ids := idsOf(runs); len(ids) > 1 {
		return Match{}, problems, fmt.Errorf("find %q: %w: the configurations %s begin like that", pattern, ErrAmbiguous,
			strings.Join(d.whence(runs, ids[:min(len(ids), 8)]), ", "))
	}
	if len(runs) > 0 {
		return Match{Kind: KindConfiguration, Name: runs[0].ID, Runs: runs}, problems, nil
	}
	return Match{}, problems, notFound(fmt.Sprintf("no run, configuration or night is called %q: %s", pattern, d.nearest(pattern, all)))
}

// notFound is an ErrNotFound that says all in its own words.
type notFound string

func (e notFound) Error() string { return string(e) }

// Is makes it an ErrNotFound.
func (e notFound) Is(target error) bool { return target == ErrNotFound }

// nearest is what a person may have meant who named what is not there.
func (d *Dir) nearest(pattern string, all []RunRef) string {
	var names []string
	values := map[string][]string{} // of axes, as axis=label
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, id := range idsOf(all) {
		i := slices.IndexFunc(all, func(r RunRef) bool { return r.ID == id })
		record, _ := d.loadRecord(all[i], 1)
		if record == nil {
			continue
		}
		add(record.Configuration.Name)
		for _, l := range record.Configuration.Labels {
			label := l.Axis + "=" + l.Value
			add(label)
			if !slices.Contains(values[l.Axis], label) {
				values[l.Axis] = append(values[l.Axis], label)
			}
		}
	}
	if v := values[pattern]; v != nil {
		return "that is an axis: write " + strings.Join(v[:min(len(v), 8)], " or ")
	}
	if nights, _, err := listDirs(d.nightsDir(), "night"); err == nil {
		for _, id := range nights {
			add(id)
		}
	}
	if hint := matrix.Suggest(pattern, names); hint != "" {
		return hint
	}
	return "`sweep ls` lists the nights, `sweep report` names their configurations"
}

// allRuns lists every run, oldest first.
func (d *Dir) allRuns() ([]RunRef, []Problem, error) {
	ids, problems, err := listDirs(d.runsDir(), "configuration")
	if err != nil {
		return nil, problems, err
	}
	var all []RunRef
	for _, id := range ids {
		names, bad, err := listDirs(filepath.Join(d.runsDir(), id), "run")
		problems = append(problems, bad...)
		if err != nil {
			problems = append(problems, problem(filepath.Join(d.runsDir(), id), err))
		}
		for _, name := range names {
			all = append(all, RunRef{ID: id, Run: name})
		}
	}
	slices.SortFunc(all, func(a, b RunRef) int { return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.ID, b.ID)) })
	return all, problems, nil
}

// nameOf is the name of a run's configuration, from its first record.
func (d *Dir) nameOf(ref RunRef) string {
	record, _ := d.loadRecord(ref, 1)
	if record == nil {
		return ""
	}
	return record.Configuration.Name
}

// idsOf are the configurations of runs, each once.
func idsOf(runs []RunRef) []string {
	var ids []string
	for _, r := range runs {
		if !slices.Contains(ids, r.ID) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// labelsOf reads "axis=label,axis=label"; nil when the pattern is not that.
func labelsOf(pattern string) []matrix.Label {
	var labels []matrix.Label
	for part := range strings.SplitSeq(pattern, ",") {
		axis, value, ok := strings.Cut(part, "=")
		if !ok || axis == "" || value == "" {
			return nil
		}
		labels = append(labels, matrix.Label{Axis: axis, Value: value})
	}
	return labels
}

// hasLabels tells whether a run's configuration has all these labels.
func (d *Dir) hasLabels(ref RunRef, labels []matrix.Label) bool {
	record, _ := d.loadRecord(ref, 1)
	if record == nil {
		return false
	}
	for _, l := range labels {
		if !slices.Contains(record.Configuration.Labels, l) {
			return false
		}
	}
	return true
}

func filter(all []RunRef, keep func(RunRef) bool) []RunRef {
	var some []RunRef
	for _, r := range all {
		if keep(r) {
			some = append(some, r)
		}
	}
	return some
}

func inOrder(refs map[int]RunRef) []RunRef {
	ordinals := make([]int, 0, len(refs))
	for o := range refs {
		ordinals = append(ordinals, o)
	}
	slices.Sort(ordinals)
	var list []RunRef
	for _, o := range ordinals {
		list = append(list, refs[o])
	}
	return list
}

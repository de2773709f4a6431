package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"sweep/internal/bench"
	"sweep/internal/sweep"
)

// LoadRun reads all that is known of a run. What cannot be read is left out
// and reported. A run that is not there is fs.ErrNotExist.
func (d *Dir) LoadRun(ref RunRef) (sweep.Run, []Problem, error) {
	run := sweep.Run{ID: ref.ID, Name: ref.Run}
	if err := ref.check(); err != nil {
		return run, nil, fmt.Errorf("load run: %w", err)
	}
	names, problems, err := listDirs(d.runDir(ref), "attempt")
	if err != nil {
		return run, nil, fmt.Errorf("load run %s: %w", ref.Run, err)
	}
	var attempts []int
	for _, name := range names {
		if n, ok := attemptNumber(name); ok {
			attempts = append(attempts, n)
		} else {
			problems = append(problems, Problem{filepath.Join(d.runDir(ref), name), "is no attempt; it is left out"})
		}
	}
	slices.Sort(attempts)
	for _, attempt := range attempts {
		record, bad := d.loadRecord(ref, attempt)
		problems = append(problems, bad...)
		if record != nil {
			run.Records = append(run.Records, *record)
		}
		measured, bad := d.loadLevels(ref, attempt)
		problems = append(problems, bad...)
		for _, m := range measured {
			run.Measurements = keep(run.Measurements, m)
		}
	}
	return run, problems, nil
}

// keep adds m unless its level is there already. The first usable one stays;
// among partial ones the latest does.
func keep(have []bench.Measurement, m bench.Measurement) []bench.Measurement {
	i := slices.IndexFunc(have, func(h bench.Measurement) bool { return h.Key == m.Key })
	if i < 0 {
		return append(have, m)
	}
	if !have[i].Usable() {
		have[i] = m
	}
	return have
}

func (d *Dir) loadRecord(ref RunRef, attempt int) (*sweep.Record, []Problem) {
	path := filepath.Join(d.AttemptDir(ref, attempt), recordName)
	r, err := readJSON[sweep.Record](path, maxSmallFile)
	if err != nil {
		return nil, []Problem{problem(path, err)}
	}
	if r.Configuration.ID != ref.ID || r.Run != ref.Run || r.Attempt != attempt {
		return nil, []Problem{{path, fmt.Sprintf("is the record of another attempt (configuration %.40q, run %.60q, attempt %d); it is left out",
			r.Configuration.ID, r.Run, r.Attempt)}}
	}
	return &r, nil
}

func (d *Dir) loadLevels(ref RunRef, attempt int) ([]bench.Measurement, []Problem) {
	levels := filepath.Join(d.AttemptDir(ref, attempt), levelsName)
	keys, problems, err := listDirs(levels, "level")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it never came to a level
	}
	if err != nil {
		return nil, []Problem{problem(levels, err)}
	}
	var measured []bench.Measurement
	for _, key := range keys {
		path := filepath.Join(levels, key, measurementName)
		m, err := readJSON[bench.Measurement](path, maxSmallFile)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			// In flight, or cut short before it had anything: the record and
			// the journal tell which.
		case err != nil:
			problems = append(problems, problem(path, err))
		case m.Key != key:
			problems = append(problems, Problem{path, fmt.Sprintf("is the measurement of another level (%.60q); it is left out", m.Key)})
		default:
			m.Attempt = attempt
			measured = append(measured, m)
		}
	}
	slices.SortStableFunc(measured, func(a, b bench.Measurement) int { return a.Started.Compare(b.Started) })
	return measured, problems
}

// RunsOf loads every run of a configuration, oldest first; none when it was
// never run.
func (d *Dir) RunsOf(id string) ([]sweep.Run, []Problem, error) {
	if err := checkName("configuration", id); err != nil {
		return nil, nil, fmt.Errorf("load runs: %w", err)
	}
	names, problems, err := listDirs(filepath.Join(d.runsDir(), id), "run")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("load the runs of %s: %w", id, err)
	}
	var runs []sweep.Run
	for _, name := range names {
		run, bad, err := d.LoadRun(RunRef{ID: id, Run: name})
		problems = append(problems, bad...)
		if err != nil {
			problems = append(problems, problem(filepath.Join(d.runsDir(), id, name), err))
			continue
		}
		runs = append(runs, run)
	}
	return runs, problems, nil
}

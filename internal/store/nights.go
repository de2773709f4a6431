package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sweep/internal/sweep"
)

// NightInfo is a night at a glance.
type NightInfo struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Host     string    `json:"host"`
	PlanHash string    `json:"plan_hash"`
	Started  time.Time `json:"started"`
	Finished bool      `json:"finished"` // its last word is that it ended
	Code     *int      `json:"code"`     // exit code it ended with; null when it did not say
	Summary  string    `json:"summary,omitempty"`
	Runs     int       `json:"runs"`    // planned
	Done     int       `json:"done"`    // measured whole and well, or reused
	Failed   int       `json:"failed"`  // ended otherwise, or with a level that could not be measured
	Invalid  int       `json:"invalid"` // of the others, those with an invalid level

	Failures []Failed `json:"failures,omitempty"` // what failed, each configuration and cause once, in the order of the runs
}

// Failed is a configuration of which a run failed.
type Failed struct {
	Name  string `json:"name"`
	Cause string `json:"cause"` // a code, or which level could not be measured; "" when the journal does not say
}

// Nights lists the nights, newest last.
func (d *Dir) Nights() ([]NightInfo, []Problem, error) {
	ids, problems, err := listDirs(d.nightsDir(), "night")
	if err != nil {
		return nil, nil, fmt.Errorf("list nights: %w", err)
	}
	var infos []NightInfo
	for _, id := range ids {
		n := &Night{id: id, dir: filepath.Join(d.nightsDir(), id)}
		path := filepath.Join(n.dir, planName)
		plan, err := readJSON[planHead](path, maxPlanFile)
		if err != nil {
			problems = append(problems, problem(path, err))
			continue
		}
		info := NightInfo{ID: id, Name: plan.Name, Host: plan.Host, PlanHash: plan.Hash, Runs: len(plan.Runs), Started: timeOf(id)}
		events, bads, err := n.Events()
		if err != nil {
			problems = append(problems, problem(n.EventsPath(), err))
		}
		problems = append(problems, bads...)
		info.follow(events)
		infos = append(infos, info)
	}
	return infos, problems, nil
}

// planHead is what a listing needs of a plan.
type planHead struct {
	Name string     `json:"name"`
	Host string     `json:"host"`
	Hash string     `json:"hash"`
	Runs []struct{} `json:"runs"`
}

// Events reads the whole journal of the night; none when nothing was written.
func (n *Night) Events() ([]Event, []Problem, error) {
	var events []Event
	var problems []Problem
	var offset int64
	for {
		more, next, bad, err := ReadEvents(n.EventsPath(), offset)
		events, problems = append(events, more...), append(problems, bad...)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, nil
		}
		if err != nil {
			return events, problems, err
		}
		if next == offset {
			break
		}
		offset = next
	}
	if info, err := os.Stat(n.EventsPath()); err == nil && info.Size() > offset {
		problems = append(problems, Problem{n.EventsPath(), fmt.Sprintf("ends in a half-written line of %d bytes; it is left out", info.Size()-offset)})
	}
	return events, problems, nil
}

// Runs tells which run on disk stands for each planned run, by ordinal: the
// one that the journal named last.
func (n *Night) Runs() (map[int]RunRef, []Problem, error) {
	events, problems, err := n.Events()
	if err != nil {
		return nil, problems, fmt.Errorf("read the journal of %s: %w", n.id, err)
	}
	runs := map[int]RunRef{}
	for _, e := range events {
		if e.Type != RunStart && e.Type != RunReused {
			continue
		}
		ref := RunRef{ID: e.Config, Run: e.Run}
		if err := ref.check(); err != nil {
			problems = append(problems, Problem{n.EventsPath(), fmt.Sprintf("event %d names no run: %v; it is left out", e.Seq, err)})
			continue
		}
		runs[e.Ordinal] = ref
	}
	return runs, problems, nil
}

// NightRuns loads the runs that belong to a night, by ordinal of the plan,
// wherever they were measured. Planned runs that were never begun are not in
// the map.
func (d *Dir) NightRuns(n *Night) (map[int]sweep.Run, []Problem, error) {
	refs, problems, err := n.Runs()
	if err != nil {
		return nil, problems, err
	}
	runs := map[int]sweep.Run{}
	for ordinal, ref := range refs {
		run, bad, err := d.LoadRun(ref)
		problems = append(problems, bad...)
		if err != nil {
			problems = append(problems, problem(d.runDir(ref), err))
			continue
		}
		runs[ordinal] = run
	}
	return runs, problems, nil
}

// listDirs lists the sorted names of the directories in dir that sweep could
// have made; other entries are reported. Names that start with a dot are
// sweep's own unfinished business.
func listDirs(dir, what string) ([]string, []Problem, error) {
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return nil, nil, err
	}
	var names []string
	var problems []Problem
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := checkName(what, e.Name()); err != nil {
			problems = append(problems, Problem{dir, err.Error() + "; it is left out"})
		} else if !e.IsDir() {
			problems = append(problems, Problem{filepath.Join(dir, e.Name()), "is not a directory; it is left out"})
		} else {
			names = append(names, e.Name())
		}
	}
	return names, problems, nil
}

// timeOf reads the time out of a night's ID; zero when there is none.
func timeOf(id string) time.Time {
	t, _ := time.Parse(nightTime, id[:min(len(id), len(nightTime))])
	return t
}

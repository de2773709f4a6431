package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sweep/internal/bench"
	"sweep/internal/matrix"
	"sweep/internal/sweep"
)

func record(ref RunRef, attempt int) sweep.Record {
	return sweep.Record{Run: ref.Run, Attempt: attempt, Repeat: 1, Configuration: sweep.Configuration{ID: ref.ID, Name: "name of " + ref.ID}}
}

func measurement(key string, ended bench.Ended, completed int) bench.Measurement {
	return bench.Measurement{Key: key, Ended: ended, Completed: completed, Started: evening}
}

func TestARunComesBackAsItWasWritten(t *testing.T) {
	d := open(t)
	ref := RunRef{"c0123456789", d.NewRunName(evening)}
	want := sweep.Run{ID: ref.ID, Name: ref.Run}
	for attempt := 1; attempt <= 10; attempt++ { // ten: order is by number
		r := record(ref, attempt)
		if err := d.WriteRecord(r); err != nil {
			t.Fatal(err)
		}
		r.Status, r.Schema = sweep.StatusDone, sweep.Schema
		if err := d.WriteRecord(r); err != nil {
			t.Fatal(err)
		}
		want.Records = append(want.Records, r)
	}
	for i, key := range []string{"c64-b", "c1-a"} {
		m := measurement(key, bench.Complete, i)
		m.Started = evening.Add(time.Duration(i) * time.Minute)
		if err := d.WriteMeasurement(ref, 2, m); err != nil {
			t.Fatal(err)
		}
		m.Schema, m.Attempt = sweep.Schema, 2
		want.Measurements = append(want.Measurements, m)
	}
	got, problems, err := d.LoadRun(ref)
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	runs, problems, err := d.RunsOf(ref.ID)
	if err != nil || len(problems) > 0 || len(runs) != 1 {
		t.Errorf("%v %v %v", runs, problems, err)
	}
	if _, _, err := d.LoadRun(RunRef{"c1", "nowhere"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such run: %v", err)
	}
}

func TestTheFirstMeasurementStays(t *testing.T) {
	d := open(t)
	ref := RunRef{"c1", "r1"}
	write := func(attempt int, ended bench.Ended, completed int) error {
		return d.WriteMeasurement(ref, attempt, measurement("k", ended, completed))
	}
	kept := func() bench.Measurement {
		run, problems, err := d.LoadRun(ref)
		if err != nil || len(run.Measurements) != 1 {
			t.Fatalf("%v %v %v", run, problems, err)
		}
		return run.Measurements[0]
	}
	// What ended before its time makes room, but is never lost.
	for i, ended := range []bench.Ended{bench.Stalled, bench.Interrupted} {
		if err := write(1, ended, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(2, bench.Complete, 10); err != nil {
		t.Fatal(err)
	}
	if m := kept(); m.Completed != 10 || m.Attempt != 2 {
		t.Errorf("kept %+v", m)
	}
	if _, err := os.Stat(filepath.Join(d.LevelDir(ref, 1, "k"), "measurement.aside-1.json")); err != nil {
		t.Error(err)
	}
	for _, attempt := range []int{1, 2, 3} {
		var measured *MeasuredError
		if err := write(attempt, bench.Complete, 99); !errors.As(err, &measured) || measured.Attempt != 2 {
			t.Errorf("attempt %d: %v", attempt, err)
		}
	}
	if m := kept(); m.Completed != 10 {
		t.Errorf("overwritten: %+v", m)
	}
}

func TestOfTwoWritersOneWins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	var wg sync.WaitGroup
	results := make([]error, 8)
	for i := range results {
		wg.Go(func() { results[i] = createJSON(path, map[string]int{"schema": 1, "i": i}) })
	}
	wg.Wait()
	won := 0
	for _, err := range results {
		if err == nil {
			won++
		} else if !errors.Is(err, fs.ErrExist) {
			t.Error(err)
		}
	}
	entries, _ := os.ReadDir(filepath.Dir(path))
	if won != 1 || len(entries) != 1 {
		t.Errorf("%d won; in the directory: %v", won, entries)
	}
}

func TestLoadRunReportsWhatItLeavesOut(t *testing.T) {
	for name, c := range map[string]struct{ path, text, want string }{
		"half-written record":        {"attempt-1/record.json", `{"schema":1,`, "cannot be decoded"},
		"newer record":               {"attempt-1/record.json", `{"schema":2}`, "newer sweep"},
		"a record of elsewhere":      {"attempt-1/record.json", `{"schema":1,"run":"other"}`, "another attempt"},
		"no record":                  {"attempt-2/server.log", "", "is missing"},
		"newer measurement":          {"attempt-1/levels/k/measurement.json", `{"schema":2}`, "newer sweep"},
		"a measurement of elsewhere": {"attempt-1/levels/k/measurement.json", `{"schema":1,"key":"\u001b[2Jx"}`, "another level"},
		"a stray directory":          {"attempt-01/x", "", "is no attempt"},
		"a huge file":                {"attempt-1/levels/k/measurement.json", strings.Repeat(" ", maxSmallFile+1), "larger than 32 MiB"},
		"a directory for a file":     {"attempt-1/levels/k/measurement.json/x", "", "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			ref := RunRef{"c1", "r1"}
			if err := errors.Join(d.WriteRecord(record(ref, 1)), d.WriteMeasurement(ref, 1, measurement("good", bench.Complete, 1))); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(d.runDir(ref), c.path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(c.text), 0o600)); err != nil {
				t.Fatal(err)
			}
			run, problems, err := d.LoadRun(ref)
			if err != nil || len(run.Measurements) != 1 {
				t.Errorf("the good measurement was lost: %v %v", run.Measurements, err)
			}
			if len(problems) != 1 || !strings.Contains(problems[0].Text, c.want) || strings.ContainsRune(problems[0].Text, 0x1b) {
				t.Errorf("problems %q, want one with %q", problems, c.want)
			}
		})
	}
}

func TestNamesFromElsewhereStayInside(t *testing.T) {
	d := open(t)
	for _, bad := range []string{"", ".", "..", "../x", "a/b", `a\b`, ".hidden", "a\nb", "\x1b[31m", "a\xffb", strings.Repeat("x", 201)} {
		if err := d.WriteRecord(record(RunRef{bad, "r"}, 1)); err == nil {
			t.Errorf("configuration %q was taken", bad)
		}
		if err := d.WriteRecord(record(RunRef{"c", bad}, 1)); err == nil {
			t.Errorf("run %q was taken", bad)
		}
		if err := d.WriteMeasurement(RunRef{"c", "r"}, 1, measurement(bad, bench.Complete, 1)); err == nil {
			t.Errorf("key %q was taken", bad)
		}
		if _, _, err := d.LoadRun(RunRef{bad, bad}); err == nil {
			t.Errorf("loaded %q", bad)
		}
		if _, _, err := d.RunsOf(bad); err == nil {
			t.Errorf("listed %q", bad)
		}
	}
	if err := d.WriteRecord(record(RunRef{"c", "r"}, 0)); err == nil {
		t.Error("attempt 0 was taken")
	}
}

func TestRunNamesSortAndDiffer(t *testing.T) {
	d := open(t)
	seen := map[string]bool{}
	for range 100 {
		seen[d.NewRunName(evening)] = true
	}
	if len(seen) < 90 {
		t.Errorf("%d different names of 100", len(seen))
	}
	a, b := d.NewRunName(evening), d.NewRunName(evening.Add(time.Millisecond))
	if a >= b || !strings.HasPrefix(a, "20261201T054413.123-") {
		t.Errorf("%s, %s", a, b)
	}
}

func TestFindRuns(t *testing.T) {
	d := open(t)
	refs := []RunRef{{"caaa1", "20261201T01-x"}, {"caaa2", "20261201T02-x"}, {"caaa1", "20261202T03-x"}}
	for _, ref := range refs {
		if err := d.WriteRecord(record(ref, 1)); err != nil {
			t.Fatal(err)
		}
	}
	j := journal(t, newNight(t, d, "demo"))
	say(t, j, Event{Type: RunStart, Ordinal: 2, Config: refs[1].ID, Run: refs[1].Run}, Event{Type: RunReused, Ordinal: 1, Config: refs[0].ID, Run: refs[0].Run})
	for pattern, want := range map[string]Match{
		"20261201T02-x": {Kind: KindRun, Name: "20261201T02-x", Runs: refs[1:2]},
		"20261201T":     {Kind: KindRun, Name: "20261201T", Runs: refs[:2]},
		"caaa1":         {Kind: KindConfiguration, Name: "caaa1", Runs: []RunRef{refs[0], refs[2]}},
		"caaa2":         {Kind: KindConfiguration, Name: "caaa2", Runs: refs[1:2]},
		"name of caaa2": {Kind: KindConfiguration, Name: "name of caaa2", Runs: refs[1:2]},
		"demo":          {Kind: KindNight, Name: "20261201-054413-demo", Runs: refs[:2]},
		"last":          {Kind: KindNight, Name: "20261201-054413-demo", Runs: refs[:2]},
	} {
		got, problems, err := d.FindRuns(pattern)
		if err != nil || len(problems) > 0 {
			t.Errorf("%s: %v %v", pattern, problems, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", pattern, diff)
		}
	}
	for pattern, want := range map[string]error{"caaa": ErrAmbiguous, "nothing": ErrNotFound, "": ErrNotFound} {
		if _, _, err := d.FindRuns(pattern); !errors.Is(err, want) {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}

// TestFindRunsInTheNewestNight: after an edit two configurations have one name;
// the name is that of the newest night that began one, "baseline" its baseline,
// and what stays ambiguous says which night and when.
func TestFindRunsInTheNewestNight(t *testing.T) {
	d := open(t)
	refs := []RunRef{{"caaa1", "20261201T01-x"}, {"caaa2", "20261202T01-x"}, {"caaa3", "20261203T01-x"}}
	for i, ref := range refs {
		r := record(ref, 1)
		r.Configuration.Name, r.Sweep, r.Started = "cap=wide", "night-of-"+ref.ID, evening
		if err := d.WriteRecord(r); err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			break // measured, but of no night that is there
		}
		night, err := d.CreateNight(&sweep.Plan{Schema: 1, Name: "demo", Configurations: []sweep.Configuration{{ID: ref.ID, Name: "cap=wide", Baseline: true}}}, evening.AddDate(0, 0, i))
		if err != nil {
			t.Fatal(err)
		}
		say(t, journal(t, night), Event{Type: RunStart, Ordinal: 1, Config: ref.ID, Run: ref.Run})
	}
	// the newest night has not come to its run yet
	if _, err := d.CreateNight(&sweep.Plan{Schema: 1, Name: "demo", Configurations: []sweep.Configuration{{ID: "caaa9", Name: "cap=wide", Baseline: true}}}, evening.AddDate(0, 0, 5)); err != nil {
		t.Fatal(err)
	}
	const second = "20261202-054413-demo"
	for pattern, want := range map[string]Match{
		"cap=wide": {Kind: KindConfiguration, Name: "cap=wide", Runs: refs[1:2], Note: "several nights have a cap=wide; this is that of night " + second + ", the newest"},
		"baseline": {Kind: KindConfiguration, Name: "cap=wide", Runs: refs[1:2], Note: "baseline is cap=wide, of night " + second},
		"demo":     {Kind: KindNight, Name: "20261206-054413-demo", Note: "night 20261206-054413-demo, the newest of its name; 2 older ones are called that too"},
	} {
		got, _, err := d.FindRuns(pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", pattern, diff)
		}
	}
	if _, _, err := d.FindRuns("caaa"); !errors.Is(err, ErrAmbiguous) || !strings.Contains(err.Error(), "caaa2 (night night-of-caaa2, 20") {
		t.Errorf("%v", err)
	}
	if err := os.RemoveAll(d.nightsDir()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.FindRuns("cap=wide"); !errors.Is(err, ErrAmbiguous) || !strings.Contains(err.Error(), "caaa1 (night night-of-caaa1, 20") {
		t.Errorf("no night: %v", err)
	}
}

// TestFindRunsSaysWhatIsNear: a mistyped name gets the nearest one, the name of
// an axis its values.
func TestFindRunsSaysWhatIsNear(t *testing.T) {
	d := open(t)
	for id, label := range map[string]string{"caaa1": "on", "caaa2": "off"} {
		r := record(RunRef{id, "20261201T01-" + id}, 1)
		r.Configuration.Name, r.Configuration.Labels = "cuda-graph="+label, []matrix.Label{{Axis: "cuda-graph", Value: label}}
		if label == "off" {
			r.Configuration.Name = "small-prefill"
		}
		if err := d.WriteRecord(r); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string]string{
		"small-prefil":  `no run, configuration or night is called "small-prefil": did you mean "small-prefill"?`,
		"cuda-graph":    `no run, configuration or night is called "cuda-graph": that is an axis: write cuda-graph=on or cuda-graph=off`,
		"cuda-grap=off": `no run, configuration or night is called "cuda-grap=off": did you mean "cuda-graph=off"?`,
		"zzzzzz":        "no run, configuration or night is called \"zzzzzz\": `sweep ls` lists the nights, `sweep report` names their configurations",
	} {
		if _, _, err := d.FindRuns(pattern); !errors.Is(err, ErrNotFound) || err.Error() != want {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

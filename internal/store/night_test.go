package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sweep/internal/sweep"
)

func TestOpenMakesAPrivateDirectory(t *testing.T) {
	d := open(t)
	for _, p := range []string{d.Path(), d.nightsDir(), d.runsDir()} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v %v", p, info, err)
		}
	}
	file := filepath.Join(d.Path(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file); err == nil {
		t.Error("opened a file as a data directory")
	}
}

func TestCreateNightTakesTheNextFreeID(t *testing.T) {
	d := open(t)
	var ids []string
	for range 3 {
		ids = append(ids, newNight(t, d, "GLM-5: über Nacht!").ID())
	}
	want := []string{"20261201-054413-glm-5-ber-nacht", "20261201-054413-glm-5-ber-nacht-2", "20261201-054413-glm-5-ber-nacht-3"}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Error(diff)
	}
	if entries, _ := os.ReadDir(d.nightsDir()); len(entries) != 3 {
		t.Errorf("left behind: %v", entries)
	}
	if id := newNight(t, d, "../..").ID(); id != "20261201-054413-sweep" {
		t.Errorf("id %s", id)
	}
}

func TestOpenNight(t *testing.T) {
	d := open(t)
	if _, err := d.OpenNight("last"); !errors.Is(err, ErrNotFound) {
		t.Errorf("no night: %v", err)
	}
	for i, name := range []string{"demo", "glm5", "demo"} {
		if _, err := d.CreateNight(&sweep.Plan{Schema: 1, Name: name, Hash: name}, evening.Add(time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"20261201-054413-demo": "20261201-054413-demo",
		"20261201-06":          "20261201-064413-glm5",
		"glm5":                 "20261201-064413-glm5",
		"demo":                 "20261201-074413-demo", // the newest
		"last":                 "20261201-074413-demo",
	} {
		n, err := d.OpenNight(name)
		if err != nil || n.ID() != want || n.Plan().Name == "" {
			t.Errorf("%s: %v %v", name, n, err)
		}
	}
	for name, want := range map[string]error{"2026": ErrAmbiguous, "": ErrNotFound, "m5": ErrNotFound, "../nights": ErrNotFound} {
		if _, err := d.OpenNight(name); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
}

// TestNightsSayWhatFailed: each configuration and cause once; what a later
// attempt made good is none.
func TestNightsSayWhatFailed(t *testing.T) {
	var info NightInfo
	info.follow([]Event{
		{Type: RunStart, Ordinal: 1, Name: "a"}, {Type: AttemptFailed, Ordinal: 1, Name: "a", Cause: "cuda-oom"}, {Type: RunEnd, Ordinal: 1, Text: "failed"},
		{Type: RunStart, Ordinal: 2, Name: "b"}, {Type: AttemptFailed, Ordinal: 2, Cause: "killed"}, {Type: RunEnd, Ordinal: 2, Text: "done"},
		{Type: RunStart, Ordinal: 3, Name: "c"}, {Type: LevelFailed, Ordinal: 3, Key: "k", Level: "c=64"}, {Type: RunEnd, Ordinal: 3, Text: "done"},
		{Type: RunStart, Ordinal: 4, Name: "a"}, {Type: AttemptFailed, Ordinal: 4, Cause: "cuda-oom"}, {Type: RunEnd, Ordinal: 4, Text: "failed"},
	})
	if diff := cmp.Diff([]Failed{{"a", "cuda-oom"}, {"c", "could not be measured at c=64"}}, info.Failures); diff != "" {
		t.Error(diff)
	}
}

func TestNightsSayHowFarTheyCame(t *testing.T) {
	d := open(t)
	n := newNight(t, d, "demo")
	code := 1
	steps := []struct {
		event Event
		want  NightInfo // Done, Failed, Finished, Code
	}{
		{Event{Type: NightStart}, NightInfo{}},
		{Event{Type: RunReused, Ordinal: 1}, NightInfo{Done: 1}},
		{Event{Type: RunStart, Ordinal: 2}, NightInfo{Done: 1}},
		{Event{Type: RunEnd, Ordinal: 2, Text: "failed"}, NightInfo{Done: 1, Failed: 1}},
		{Event{Type: RunEnd, Ordinal: 3, Text: "done"}, NightInfo{Done: 2, Failed: 1}},
		{Event{Type: NightEnd, Code: &code, Text: "bye"}, NightInfo{Done: 2, Failed: 1, Finished: true, Code: &code, Summary: "bye"}},
	}
	for _, s := range steps {
		j := journal(t, n)
		say(t, j, s.event)
		j.Close()
		infos, problems, err := d.Nights()
		if err != nil || len(problems) > 0 || len(infos) != 1 {
			t.Fatalf("%v %v %v", infos, problems, err)
		}
		got := infos[0]
		if got.ID != n.ID() || got.Name != "demo" || got.PlanHash != "h-demo" || got.Runs != 3 || got.Started.IsZero() {
			t.Errorf("%s: %+v", s.event.Type, got)
		}
		got.Failures = nil // another test's
		s.want.ID, s.want.Name, s.want.PlanHash, s.want.Runs, s.want.Started = got.ID, got.Name, got.PlanHash, got.Runs, got.Started
		if s.want.Code == nil {
			s.want.Code = got.Code
		}
		if diff := cmp.Diff(s.want, got); diff != "" {
			t.Errorf("%s: %s", s.event.Type, diff)
		}
	}
}

func TestNightsReportWhatTheyCannotRead(t *testing.T) {
	d := open(t)
	newNight(t, d, "demo")
	for name, plan := range map[string]string{
		"20261201-000001-empty": "",
		"20261201-000002-newer": `{"schema":99,"name":"x"}`,
		"20261201-000003-\x1b[": `{"schema":1}`,
		"20261201-000004-link":  "link",
	} {
		dir := filepath.Join(d.nightsDir(), name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, planName)
		err := os.WriteFile(path, []byte(plan), 0o600)
		if plan == "link" {
			err = errors.Join(os.Remove(path), os.Symlink("/etc/passwd", path))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(d.nightsDir(), "stray"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	infos, problems, err := d.Nights()
	if err != nil || len(infos) != 1 || len(problems) != 5 {
		t.Errorf("%d nights, %d problems %v, err %v", len(infos), len(problems), problems, err)
	}
	for _, p := range problems {
		if strings.ContainsRune(p.Text, 0x1b) {
			t.Errorf("%q would reach the terminal", p.Text)
		}
	}
	if _, err := d.OpenNight("newer"); err == nil || !strings.Contains(err.Error(), "newer sweep") {
		t.Errorf("newer: %v", err)
	}
}

func TestNightRunsFollowTheLastWord(t *testing.T) {
	d := open(t)
	n := newNight(t, d, "demo")
	for _, ref := range []RunRef{{"c1", "r1"}, {"c1", "r2"}, {"c2", "r3"}} {
		if err := d.WriteRecord(record(ref, 1)); err != nil {
			t.Fatal(err)
		}
	}
	j := journal(t, n)
	say(t, j,
		Event{Type: RunStart, Ordinal: 1, Config: "c1", Run: "r1"},
		Event{Type: RunStart, Ordinal: 1, Config: "c1", Run: "r2"},
		Event{Type: RunReused, Ordinal: 2, Config: "c2", Run: "r3"},
		Event{Type: RunStart, Ordinal: 3, Config: "c2", Run: "gone"},
		Event{Type: RunStart, Ordinal: 4, Config: "../../etc", Run: "r"},
	)
	runs, problems, err := d.NightRuns(n)
	if err != nil || len(runs) != 2 || runs[1].Name != "r2" || runs[2].Name != "r3" {
		t.Errorf("%v %v", runs, err)
	}
	if len(problems) != 2 {
		t.Errorf("problems %v", problems)
	}
}

// TestARunWithoutItsLevelsIsNotDone: a run whose levels could not be measured, or
// are invalid, is no success in a listing, whatever its server did.
func TestARunWithoutItsLevelsIsNotDone(t *testing.T) {
	ended := func(ordinal int, levels ...Event) []Event {
		events := []Event{{Type: RunStart, Ordinal: ordinal}}
		for _, e := range levels {
			e.Ordinal = ordinal
			events = append(events, e)
		}
		return append(events, Event{Type: RunEnd, Ordinal: ordinal, Text: "done"})
	}
	good, bad := Event{Type: LevelEnd, Key: "a", Figures: &Figures{Verdict: "valid"}}, Event{Type: LevelEnd, Key: "b", Figures: &Figures{Verdict: "invalid"}}
	failed := Event{Type: LevelFailed, Key: "a", Text: "the input is too long"}
	for name, c := range map[string]struct {
		events []Event
		want   NightInfo
	}{
		"well":             {ended(1, good), NightInfo{Done: 1}},
		"invalid":          {append(ended(1, good, bad), ended(2, bad)...), NightInfo{Invalid: 2}},
		"refused":          {ended(1, failed), NightInfo{Failed: 1}},
		"refused, invalid": {ended(1, failed, bad), NightInfo{Failed: 1}},
		"made good":        {ended(1, failed, good), NightInfo{Done: 1}},
		"another start":    {append(ended(1, failed), ended(1, good)...), NightInfo{Done: 1}},
	} {
		var got NightInfo
		got.follow(c.events)
		got.Failures = nil // another test's
		if !cmp.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sweep/internal/sweep"
)

var evening = time.Date(2026, 12, 1, 5, 44, 13, 123e6, time.UTC)

func open(t *testing.T) *Dir {
	t.Helper()
	d, err := Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func newNight(t *testing.T, d *Dir, name string) *Night {
	t.Helper()
	n, err := d.CreateNight(&sweep.Plan{Schema: sweep.Schema, Name: name, Hash: "h-" + name, Runs: make([]sweep.PlannedRun, 3)}, evening)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func journal(t *testing.T, n *Night) *Journal {
	t.Helper()
	j, err := n.Journal()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func say(t *testing.T, j *Journal, events ...Event) {
	t.Helper()
	for _, e := range events {
		if _, err := j.Append(e); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAppendIsOnDiskBeforeSubscribersHearOfIt(t *testing.T) {
	n := newNight(t, open(t), "demo")
	j := journal(t, n)
	var heard []Event
	j.Subscribe(func(e Event) {
		onDisk, _, err := n.Events()
		if err != nil || len(onDisk) != int(e.Seq) {
			t.Errorf("event %d: %d on disk, err %v", e.Seq, len(onDisk), err)
		}
		heard = append(heard, e)
	})
	say(t, j, Event{Type: NightStart}, Event{Type: RunStart, Ordinal: 1})
	if len(heard) != 2 || heard[1].Seq != 2 || heard[1].Schema != sweep.Schema || heard[1].At.IsZero() {
		t.Errorf("heard %+v", heard)
	}
}

func TestConcurrentAppendsHaveNoGaps(t *testing.T) {
	n := newNight(t, open(t), "demo")
	j := journal(t, n)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				if _, err := j.Append(Event{Type: Warning}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	events, problems, err := n.Events()
	if err != nil || len(problems) > 0 || len(events) != 40 {
		t.Fatalf("%d events, problems %v, err %v", len(events), problems, err)
	}
	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has number %d", i, e.Seq)
		}
	}
}

func TestJournalHasOneWriter(t *testing.T) {
	n := newNight(t, open(t), "demo")
	j := journal(t, n)
	if _, err := n.Journal(); !errors.Is(err, ErrLocked) {
		t.Fatalf("second writer: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(Event{Type: Warning}); err == nil {
		t.Error("a closed journal took an event")
	}
	journal(t, n)
}

// A writer that is killed leaves any prefix of its last line.
func TestJournalGoesOnAfterATornLine(t *testing.T) {
	d := open(t)
	n := newNight(t, d, "demo")
	j := journal(t, n)
	say(t, j, Event{Type: NightStart}, Event{Type: RunStart, Config: "c1", Run: "r1"})
	j.Close()
	whole, err := os.ReadFile(n.EventsPath())
	if err != nil {
		t.Fatal(err)
	}
	first := strings.IndexByte(string(whole), '\n') + 1
	for cut := first; cut < len(whole); cut += 7 {
		if err := os.WriteFile(n.EventsPath(), whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		j := journal(t, n)
		if torn := cut > first; torn != (len(j.Problems()) == 1) {
			t.Fatalf("cut at %d: problems %v", cut, j.Problems())
		}
		if cut > first {
			kept, err := os.ReadFile(fmt.Sprintf("%s.torn-%d", n.EventsPath(), first))
			if err != nil || string(kept) != string(whole[first:cut]) {
				t.Fatalf("cut at %d: set aside %q, %v", cut, kept, err)
			}
		}
		e, err := j.Append(Event{Type: NightResume})
		if err != nil || e.Seq != 2 {
			t.Fatalf("cut at %d: event %+v, %v", cut, e, err)
		}
		j.Close()
		events, problems, err := n.Events()
		if err != nil || len(problems) != 0 || len(events) != 2 || events[1].Type != NightResume {
			t.Fatalf("cut at %d: %v %v %v", cut, events, problems, err)
		}
	}
}

func TestReadEventsFollowsAWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	first := `{"schema":1,"seq":1,"type":"night.start"}` + "\n"
	second := `{"schema":1,"seq":2,"type":"from.tomorrow","text":"kept"}` + "\n"
	for _, step := range []struct {
		text string
		want int // events seen so far
	}{{"", 0}, {first, 1}, {first + second[:10], 1}, {first + second, 2}} {
		if err := os.WriteFile(path, []byte(step.text), 0o600); err != nil {
			t.Fatal(err)
		}
		events, offset, problems, err := ReadEvents(path, 0)
		if err != nil || len(problems) > 0 || len(events) != step.want {
			t.Fatalf("%q: %v %v %v", step.text, events, problems, err)
		}
		if again, same, _, _ := ReadEvents(path, offset); len(again) != 0 || same != offset {
			t.Fatalf("%q: read on from %d: %v, %d", step.text, offset, again, same)
		}
	}
	if _, offset, problems, err := ReadEvents(path, 1<<20); err != nil || offset != 1<<20 || len(problems) != 1 {
		t.Errorf("a file that shrank: %d %v %v", offset, problems, err)
	}
}

func TestReadEventsReportsWhatItSetsAside(t *testing.T) {
	good := `{"schema":1,"seq":9,"type":"ready"}`
	for name, c := range map[string]struct{ line, want string }{
		"newer":       {`{"schema":2,"seq":1,"type":"ready"}`, "newer sweep"},
		"no schema":   {`{"seq":1,"type":"ready"}`, "no schema"},
		"half a line": {`{"schema":1,"se`, "cannot be decoded"},
		"wrong type":  {`{"schema":1,"seq":"x","type":"ready"}`, "is no event"},
		"no number":   {`{"schema":1,"type":"ready"}`, "no number"},
		"too long":    {`{"schema":1,"seq":1,"type":"ready","text":"` + strings.Repeat("x", maxEventLine) + `"}`, "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "events.jsonl")
			if err := os.WriteFile(path, []byte(c.line+"\n\n"+good+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			events, _, problems, err := ReadEvents(path, 0)
			if err != nil || len(events) != 1 || events[0].Seq != 9 {
				t.Errorf("events %v, err %v", events, err)
			}
			if len(problems) != 1 || !strings.Contains(problems[0].Text, c.want) {
				t.Errorf("problems %v, want one with %q", problems, c.want)
			}
		})
	}
}

func TestNumbersGoOnAfterLinesThatCannotBeRead(t *testing.T) {
	n := newNight(t, open(t), "demo")
	lines := `{"schema":1,"seq":1,"type":"ready"}` + "\n" + `{"schema":7,"seq":2,"type":"ready"}` + "\n"
	if err := os.WriteFile(n.EventsPath(), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	j := journal(t, n)
	if e, err := j.Append(Event{Type: Warning}); err != nil || e.Seq != 3 {
		t.Errorf("%+v %v", e, err)
	}
}

func FuzzDecodeEvents(f *testing.F) {
	f.Add([]byte(`{"schema":1,"seq":1,"type":"ready","progress":0.5}` + "\n" + `{"schema":1`))
	f.Add([]byte("\n\n\x00{}\n[]\nnull\n{\"schema\":1e400}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		events, read, problems, err := decodeEvents(strings.NewReader(string(data)), "f", 0)
		if err != nil {
			t.Fatal(err)
		}
		if read != int64(strings.LastIndexByte(string(data), '\n')+1) {
			t.Fatalf("read %d bytes of %q", read, data)
		}
		if lines := strings.Count(string(data), "\n"); len(events)+len(problems) > lines {
			t.Fatalf("%d events and %d problems in %d lines", len(events), len(problems), lines)
		}
		for _, e := range events {
			if e.Schema != sweep.Schema || e.Seq < 1 || e.Type == "" {
				t.Fatalf("event %+v", e)
			}
		}
	})
}

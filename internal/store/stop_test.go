package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sweep/internal/sweep"
)

func stopNight(t *testing.T) *Night {
	t.Helper()
	dir, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	n, err := dir.CreateNight(&sweep.Plan{Schema: sweep.Schema, Name: "stop"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestStopOrder(t *testing.T) {
	n := stopNight(t)
	if o, err := n.Ordered(); o != "" || err != nil {
		t.Errorf("before any order: %q, %v", o, err)
	}
	for _, want := range []StopOrder{StopAfterLevel, StopNow, StopNow} {
		if err := n.Order(want); err != nil {
			t.Fatal(err)
		}
		if o, err := n.Ordered(); o != want || err != nil {
			t.Errorf("%q, %v, want %q", o, err, want)
		}
	}
	for range 2 {
		if err := n.ClearOrder(); err != nil {
			t.Error(err)
		}
	}
	if o, err := n.Ordered(); o != "" || err != nil {
		t.Errorf("after ClearOrder: %q, %v", o, err)
	}
	if err := n.Order("later"); err == nil {
		t.Error("an unknown order was given")
	}
	for _, text := range []string{"", "NOW", "now now", string(make([]byte, 1000))} {
		if err := os.WriteFile(filepath.Join(n.Dir(), stopName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if o, err := n.Ordered(); err == nil || o != "" {
			t.Errorf("the order %q was read as %q", text, o)
		}
	}
}

// Looking never makes a runner believe that another one is at work.
func TestUnderWay(t *testing.T) {
	n := stopNight(t)
	look := func(want bool) {
		t.Helper()
		if runs, err := n.UnderWay(); runs != want || err != nil {
			t.Errorf("under way: %v, %v, want %v", runs, err, want)
		}
	}
	look(false)
	done := make(chan struct{})
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		for {
			select {
			case <-done:
				return
			default:
				_, _ = n.UnderWay()
			}
		}
	}()
	for range 50 {
		j, err := n.Journal()
		if err != nil {
			t.Fatal(err)
		}
		look(true)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	<-looked
	look(false)
}

package gpu

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// script answers calls in turn, the last answer for ever.
type script struct {
	cards, apps []string
	code        int
	err         error
	calls       int
}

func (s *script) Run(_ context.Context, argv ...string) ([]byte, int, error) {
	if s.err != nil || s.code != 0 {
		return []byte("NVIDIA-SMI has failed\x1b[31m"), s.code, s.err
	}
	from := s.cards
	if strings.Contains(argv[1], "compute-apps") {
		from = s.apps
	}
	if len(from) == 0 {
		return nil, 0, nil
	}
	i := min(s.calls/2, len(from)-1)
	s.calls++
	return []byte(from[i]), 0, nil
}

const twoCards = "0, GPU-a, NVIDIA RTX PRO 6000 Blackwell, 95000, 97887, 580.95\n1, GPU-b, NVIDIA RTX PRO 6000 Blackwell, [N/A], 97887, 580.95\n"

func TestLookReadsCardsAndProcesses(t *testing.T) {
	s := Look(t.Context(), &script{cards: []string{twoCards}, apps: []string{"4711, GPU-a, 94000, sglang::scheduler_TP0\n[N/A], GPU-b, [N/A], [Not Found]\n"}})
	if len(s.GPUs) != 2 || s.Driver != "580.95" || s.Note != "" {
		t.Fatalf("got %+v", s)
	}
	if s.GPUs[1].MemoryUsed != nil {
		t.Error("[N/A] must be unknown, not a number")
	}
	if len(s.Processes) != 1 || s.Processes[0].PID != 4711 {
		t.Errorf("processes %+v", s.Processes)
	}
}

func TestA12BusyCardNamesItsHolder(t *testing.T) {
	s := Look(t.Context(), &script{cards: []string{twoCards}, apps: []string{"4711, GPU-a, 94000, python3\n"}})
	busy := s.Busy()
	if len(busy) != 1 || busy[0] != "GPU 0 holds 95000 MiB (pid 4711 python3)" {
		t.Errorf("got %q", busy)
	}
}

func TestD16WaitsUntilMemoryIsBack(t *testing.T) {
	card := func(used string) string { return "0, GPU-a, X, " + used + ", 97887, 580.95\n" }
	sc := &script{cards: []string{card("90000"), card("20000"), card("1")}, apps: []string{""}}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if busy, last := WaitFree(ctx, sc, time.Millisecond); busy != nil || last.Note != "" || len(last.GPUs) != 1 {
		t.Errorf("busy %q last %+v", busy, last)
	}
	stuck := &script{cards: []string{card("90000")}, apps: []string{"7, GPU-a, 1, x\n"}}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if busy, _ := WaitFree(ctx, stuck, time.Millisecond); len(busy) != 1 {
		t.Errorf("a card that never empties must be named, got %q", busy)
	}
}

func TestFailuresBecomeNotes(t *testing.T) {
	for _, c := range []struct {
		name string
		sc   *script
		want string
	}{
		{"missing", &script{err: exec.ErrNotFound}, "executable file not found"},
		{"E19 mismatch", &script{code: 18}, "driver and library versions differ"},
		{"B07 lost", &script{code: 15}, "GPU is lost"},
		{"garbage", &script{cards: []string{"hello\n"}}, "unreadable answer"},
		{"nothing", &script{}, "no GPU"},
		{"odd index", &script{cards: []string{"x, a, b, 1, 2, 3\n"}}, "unreadable card index"},
		{"other", &script{err: errors.New("boom\x1b[2J")}, "boom"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Look(t.Context(), c.sc)
			if len(s.GPUs) != 0 || !strings.Contains(s.Note, c.want) || strings.Contains(s.Note, "\x1b") {
				t.Errorf("got %+v", s)
			}
		})
	}
}

func FuzzLook(f *testing.F) {
	f.Add(twoCards, "4711, GPU-a, 94000, python3\n")
	f.Add("\"", ",,,\n")
	f.Fuzz(func(t *testing.T, cards, apps string) {
		s := Look(t.Context(), &script{cards: []string{cards}, apps: []string{apps}})
		if len(s.GPUs) == 0 && s.Note == "" {
			t.Error("no cards and no reason")
		}
		s.Busy()
	})
}

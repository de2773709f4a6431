package move

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"sweep/internal/remote"
	"sweep/internal/store"
)

// Bounds on what a host may send home for one run or night. A level of 10,000
// requests is some 3 MB, the log of a server that complains all night 1 GB.
const (
	homeFiles = 50_000
	homeFile  = 8 << 30
	homeTotal = 32 << 30
)

// Homing brings the records of a night home while it goes on: whatever has
// just been finished, and the night's own directory. What is there and
// finished is never overwritten by something else; that is told, once.
type Homing struct {
	place *Place
	reg   Registry
	entry *Entry
	note  func(string)

	mu      sync.Mutex
	night   string
	runs    map[string]bool // ID/RUN: ended
	due     []string        // ID/RUN to be brought next; "": only the night
	told    map[string]bool
	wake    chan struct{}
	stopped chan struct{}
	cancel  context.CancelFunc
}

// Bring starts to bring records home. Note is told what could not be brought.
func (p *Place) Bring(ctx context.Context, reg Registry, e *Entry, note func(string)) *Homing {
	ctx, cancel := context.WithCancel(ctx)
	h := &Homing{place: p, reg: reg, entry: e, note: note, night: e.Night, runs: map[string]bool{}, told: map[string]bool{},
		wake: make(chan struct{}, 1), stopped: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(h.stopped)
		for {
			select {
			case <-ctx.Done():
				return
			case <-h.wake:
			}
			for ctx.Err() == nil && h.step(ctx) {
			}
		}
	}()
	return h
}

// Event takes notice of what a night says: what it finished is brought.
func (h *Homing) Event(e store.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	run := ""
	if e.Config != "" && e.Run != "" {
		run = e.Config + "/" + e.Run
	}
	switch e.Type {
	case store.NightStart, store.NightResume:
		if checkPart(e.Night) == nil && h.entry.Night != e.Night {
			// At once: it can be called by its name as soon as that is known. Where
			// it cannot be kept, its key is a name too.
			h.night, h.entry.Night = e.Night, e.Night
			_ = h.reg.Save(h.entry)
		}
		h.put("")
	case store.RunStart:
		if run != "" {
			h.runs[run] = false
		}
	case store.LevelEnd, store.LevelFailed, store.AttemptEnd:
		if _, known := h.runs[run]; known {
			h.put(run)
		}
	case store.RunEnd, store.RunReused:
		if run != "" && !slices.Contains(h.entry.Brought, e.Run) {
			h.runs[run] = true
			h.put(run)
		} else if run != "" {
			delete(h.runs, run)
		}
	}
}

// Night is the night's ID, "" when it has not said it yet.
func (h *Homing) Night() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.night
}

// remember changes the entry, which others read meanwhile, and saves it.
func (h *Homing) remember(change func(*Entry)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h.entry)
	return h.reg.Save(h.entry)
}

// Handle is the entry's Handle.
func (h *Homing) Handle() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.entry.Handle()
}

func (h *Homing) put(run string) {
	if !slices.Contains(h.due, run) {
		h.due = append(h.due, run)
	}
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// step brings the next thing that is due; false when nothing is. What fails is
// brought by Finish.
func (h *Homing) step(ctx context.Context) bool {
	h.mu.Lock()
	if len(h.due) == 0 {
		h.mu.Unlock()
		return false
	}
	run := h.due[0]
	h.due = h.due[1:]
	ended, night := h.runs[run], h.night
	h.mu.Unlock()
	err := h.bringNight(ctx, night)
	if run != "" {
		err = errors.Join(err, h.bringRun(ctx, run, ended))
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, remote.ErrLost) {
		h.tell(err.Error())
	}
	return true
}

// Finish brings all that is left and ends. What it returns says what is still
// over there only.
func (h *Homing) Finish(ctx context.Context) error {
	h.Leave()
	h.mu.Lock()
	night := h.night
	runs := make([]string, 0, len(h.runs))
	for run := range h.runs {
		runs = append(runs, run)
	}
	h.mu.Unlock()
	slices.Sort(runs)
	err := h.again(ctx, func() error { return h.bringNight(ctx, night) })
	for _, run := range runs {
		err = errors.Join(err, h.again(ctx, func() error { return h.bringRun(ctx, run, true) }))
	}
	if err == nil {
		_ = os.RemoveAll(h.staging())
		_ = os.Remove(filepath.Dir(h.staging())) // unless another night is on its way home
	}
	return err
}

// Leave ends the bringing where it is.
func (h *Homing) Leave() {
	h.cancel()
	<-h.stopped
}

// again does something over lost links.
func (h *Homing) again(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if err == nil || try == 4 || !passes(ctx, err) {
			return err
		}
	}
}

func (h *Homing) tell(text string) {
	h.mu.Lock()
	known := h.told[text]
	h.told[text] = true
	h.mu.Unlock()
	if !known && h.note != nil {
		h.note(text)
	}
}

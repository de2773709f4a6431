package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"sweep/internal/store"
)

// screen is the one owner of the terminal while a night runs. It knows only
// the events of the journal. Lines read as a log; on a terminal one status
// line stands below them.
type screen struct {
	mu     sync.Mutex
	out    io.Writer
	json   bool
	tty    bool
	width  func() int
	status string // as drawn, "" when none
	night  clock
	last   time.Time     // of the last line printed
	err    error         // the first that writing events met
	notes  io.Writer     // where what is no event goes
	link   link          // to another host
	kept   []store.Event // of the past, to be shown once the present is reached
	closed bool
	tick   chan struct{}
	done   chan struct{}
}

// statusEvery is how often the status line is redrawn between events.
const statusEvery = time.Second

// newScreen writes to standard error on a terminal, so that the comparison on
// standard output can be piped; with asJSON, events go to standard output.
func newScreen(s streams, asJSON bool) *screen {
	sc := &screen{out: s.err, notes: s.err, json: asJSON, width: func() int { return 80 }, tick: make(chan struct{}), done: make(chan struct{})}
	if asJSON {
		sc.out = s.out
	}
	if f, ok := s.err.(*os.File); ok && !asJSON && isatty.IsTerminal(f.Fd()) && os.Getenv("TERM") != "dumb" {
		sc.tty = true
		sc.width = func() int {
			if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 20 {
				return w
			}
			return 80
		}
	}
	go sc.redraw()
	return sc
}

// expect says how long the runs are expected to take, before the first event.
func (s *screen) expect(e expected) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.night.expected = e
}

// redraw keeps the status line's clock going.
func (s *screen) redraw() {
	defer close(s.done)
	if !s.tty {
		<-s.tick
		return
	}
	every := time.NewTicker(statusEvery)
	defer every.Stop()
	for {
		select {
		case <-s.tick:
			return
		case now := <-every.C:
			s.mu.Lock()
			s.draw(s.statusAt(now))
			s.mu.Unlock()
		}
	}
}

// event shows one event.
func (s *screen) event(e store.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.json {
		line, err := json.Marshal(e)
		if err == nil {
			_, err = fmt.Fprintf(s.out, "%s\n", line)
		}
		s.err = cmp.Or(s.err, err)
		return
	}
	s.night.event(e)
	if text := sentence(e, e.At.Sub(s.last)); text != "" {
		s.print(e.At, text)
	}
	s.draw(s.statusAt(e.At))
}

// print writes one line of the log above the status line. Only a terminal gets
// it wrapped: a log is for grep.
func (s *screen) print(at time.Time, text string) {
	s.draw("")
	s.last = at
	stamp := at.Local().Format("15:04:05") + "  "
	lines := []string{text}
	if s.tty {
		lines = wrap(text, s.width()-len(stamp))
	}
	for i, line := range lines {
		if i > 0 {
			stamp = strings.Repeat(" ", len(stamp))
		}
		fmt.Fprintln(s.out, stamp+line)
	}
}

// draw replaces the status line.
func (s *screen) draw(status string) {
	if !s.tty || status == s.status {
		return
	}
	status = runewidth.Truncate(status, s.width()-1, "…")
	fmt.Fprintf(s.out, "\r\x1b[K%s", status)
	s.status = status
}

// stopping says at once that a request to stop was heard: the teardown may
// take a while.
func (s *screen) stopping() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.json {
		s.print(time.Now(), "stopping: the server is being ended; Ctrl-C again leaves at once, with the server up")
	}
}

// close takes the status line away, and returns the first error of writing
// events. It may be called again.
func (s *screen) close() error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	if !again {
		close(s.tick)
		<-s.done
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw("")
	return s.err
}

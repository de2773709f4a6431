package main

import (
	"fmt"
	"time"

	"sweep/internal/store"
)

// link is what a screen knows of the way to the host that it follows.
type link struct {
	host string
	lost time.Time // zero: it is there
	said bool      // that it is lost
	late *time.Timer
}

// lateAfter is how long a link may be away before that is worth a line.
const lateAfter = 2 * time.Second

// linked takes news of the way to a host: why it was lost, nil when it is back.
func (s *screen) linked(host string, reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.link
	switch {
	case reason != nil && l.lost.IsZero():
		l.host, l.lost, l.said = host, time.Now(), false
		why := reason.Error()
		l.late = time.AfterFunc(lateAfter, func() { s.linkLate(why) })
	case reason == nil && !l.lost.IsZero():
		l.late.Stop()
		if l.said {
			s.say(fmt.Sprintf("link to %s is back after %s", printable(host), short(time.Since(l.lost))))
		}
		l.lost = time.Time{}
		s.draw(s.statusAt(time.Now()))
	}
}

// linkLate says that the link is away. A terminal's status line counts the
// time; a log gets a line.
func (s *screen) linkLate(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link.lost.IsZero() {
		return
	}
	s.link.said = true
	if s.tty {
		s.draw(s.statusAt(time.Now()))
		return
	}
	s.say(s.linkText(time.Now()) + " (" + printable(why) + ")")
}

func (s *screen) linkText(now time.Time) string {
	return fmt.Sprintf("link to %s lost %s ago; the night goes on there", printable(s.link.host), short(max(0, now.Sub(s.link.lost)).Round(time.Second)))
}

// statusAt is the status line.
func (s *screen) statusAt(now time.Time) string {
	if s.link.said && !s.link.lost.IsZero() {
		return s.linkText(now)
	}
	return s.night.status(now)
}

// note prints a line of our own, not of the journal.
func (s *screen) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.say(text)
}

// say is note for whoever holds the lock. JSON lines stay alone on their
// stream.
func (s *screen) say(text string) {
	if s.json {
		fmt.Fprintln(s.notes, "sweep: "+printable(text))
		return
	}
	s.print(time.Now(), printable(text))
}

// said passes on what a sweep elsewhere said beside its events.
func (s *screen) said(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw("")
	fmt.Fprintln(s.notes, printable(text))
}

// line passes an event on as it came, where events go out as JSON.
func (s *screen) line(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.json {
		return
	}
	if _, err := fmt.Fprintf(s.out, "%s\n", line); s.err == nil {
		s.err = err
	}
}

// later shows an event. One of the past only moves the clock, but for those of
// the run that is under way: they are shown once the present is reached.
func (s *screen) later(e store.Event, past bool) {
	if past {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.night.event(e)
		switch {
		case e.Type == store.RunStart:
			s.kept = []store.Event{e}
		case e.Ordinal > 0 && len(s.kept) > 0, e.Type == store.Stopping, e.Type == store.Warning:
			s.kept = append(s.kept, e)
		default:
			s.kept = nil
		}
		return
	}
	s.mu.Lock()
	kept := s.kept
	s.kept = nil
	for _, old := range kept {
		if text := sentence(old, old.At.Sub(s.last)); text != "" {
			s.print(old.At, text)
		}
	}
	s.mu.Unlock()
	s.event(e)
}

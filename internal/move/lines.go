package move

import (
	"bytes"
	"encoding/json"
	"fmt"

	"sweep/internal/store"
)

// maxLine bounds a line of the output: an event has at most 1 MiB.
const maxLine = 2 << 20

// lines cuts the output into lines.
type lines struct {
	watch  Watch
	rest   []byte
	over   bool  // the line is longer than maxLine, its rest is dropped
	at     int64 // byte behind what was taken
	ending func()
}

func (l *lines) take(data []byte) {
	for len(data) > 0 {
		part, after, whole := bytes.Cut(data, []byte("\n"))
		l.at += int64(len(part))
		if len(l.rest)+len(part) > maxLine {
			l.over, part = true, nil
		}
		l.rest = append(l.rest, part...)
		data = after
		if whole {
			l.at++
			l.line()
		}
	}
}

// end takes a last line without its end: a runner that was killed.
func (l *lines) end() {
	if len(l.rest) > 0 {
		l.line()
	}
}

func (l *lines) line() {
	line, over := l.rest, l.over
	l.rest, l.over = nil, false
	if over {
		line = []byte(fmt.Sprintf("(a line of more than %d bytes)", maxLine))
	}
	if l.watch.Line != nil {
		l.watch.Line(line)
	}
	if event, ok := parseEvent(line); ok {
		if l.watch.Event != nil {
			l.watch.Event(event, l.at)
		}
		if event.Type == store.NightEnd || event.Type == store.Stopping && event.Phase != store.StopAsked {
			l.ending()
		}
		return
	}
	if text := string(bytes.TrimSpace(line)); text != "" && l.watch.Said != nil {
		l.watch.Said(text)
	}
}

func parseEvent(line []byte) (store.Event, bool) {
	var e store.Event
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &e) != nil || e.Type == "" || e.Seq < 1 {
		return store.Event{}, false
	}
	return e, true
}

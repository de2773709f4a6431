package sglang

import (
	"bytes"
	"regexp"
	"strings"
	"time"
)

// maxLine bounds what is looked at of one line, in bytes. The line
// "server_args=ServerArgs(…)" has some ten thousand; a runaway line costs this
// much memory and no more.
const maxLine = 64 << 10

// splitter cuts a byte stream into segments that end with \n or \r, whatever
// the chunks it comes in. Progress bars end with \r, so each redraw is a
// segment of its own.
type splitter struct {
	buf []byte // the segment that has not ended yet, at most maxLine of it
}

// feed calls emit with every segment that ends in chunk, without its end.
// Empty segments are left out. What is beyond maxLine of a segment is dropped.
func (s *splitter) feed(chunk []byte, emit func(string)) {
	for len(chunk) > 0 {
		end := bytes.IndexAny(chunk, "\r\n")
		part := chunk
		if end >= 0 {
			part = chunk[:end]
		}
		s.buf = append(s.buf, part[:min(len(part), maxLine-len(s.buf))]...)
		if end < 0 {
			return
		}
		s.flush(emit)
		chunk = chunk[end+1:]
	}
}

// flush ends the pending segment.
func (s *splitter) flush(emit func(string)) {
	if len(s.buf) > 0 {
		emit(string(s.buf))
	}
	s.buf = s.buf[:0]
}

// line is one line of the log.
type line struct {
	at    time.Time // when we read it, by our clock
	whole string    // as it stands, made plain
	text  string    // without the prefix
	rank  string    // "TP3", "DP0 PP1 TP2"; that of the line above when it has none of its own
	stamp time.Time // as the server wrote it, zone unknown; zero without a prefix
}

// stamped reports whether the line begins a log message. A line that does not
// continues the message above it, or comes from something else than Python's
// logging.
func (l line) stamped() bool { return !l.stamp.IsZero() }

var (
	// prefix is "[2026-08-07 10:00:00 DP0 PP1 TP3 EP3] ": the rank parts are
	// there only where their size is above one, milliseconds with
	// SGLANG_LOG_MS.
	prefix = regexp.MustCompile(`^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d{1,6})?)((?: [A-Z_]{2,12}\d{1,5})*)\] ?`)
	// torchRank is how PyTorch marks a rank in front of its own messages.
	torchRank = regexp.MustCompile(`^\[rank(\d{1,5})\]: ?`)
	// afterBar finds a message that was written behind a progress bar, on the
	// bar's own line: bars don't end with a line break.
	afterBar = regexp.MustCompile(`\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^\]]{0,80}\]|Traceback \(most recent call last\):`)
)

const stampLayout = "2006-01-02 15:04:05"

// parseLine takes the prefix off; above is the rank of the line before.
func parseLine(whole, above string) line {
	l := line{whole: whole, text: whole, rank: above}
	if !strings.HasPrefix(whole, "[") {
		return l
	}
	if m := prefix.FindStringSubmatch(whole); m != nil {
		stamp, err := time.Parse(stampLayout, strings.Replace(m[1], ",", ".", 1))
		if err != nil {
			return l
		}
		l.stamp, l.rank, l.text = stamp, strings.TrimSpace(m[2]), whole[len(m[0]):]
	} else if m := torchRank.FindStringSubmatch(whole); m != nil {
		l.rank, l.text = "rank "+m[1], whole[len(m[0]):]
	}
	return l
}

// isBar reports whether a segment is a progress bar as tqdm draws it.
func isBar(s string) bool {
	return strings.Contains(s, "%|") || strings.Contains(s, "% Completed |") ||
		strings.Contains(s, "it/s]") || strings.Contains(s, "s/it]")
}

// splitBar parts a segment into the progress bar at its front and the message
// that was written behind it; either may be empty.
func splitBar(s string) (bar, message string) {
	if !isBar(s) {
		return "", s
	}
	at := afterBar.FindStringIndex(s)
	if at == nil {
		return s, ""
	}
	return s[:at[0]], s[at[0]:] // no bar in front: a message that talks of one
}

// rankPart returns the number of one part of a rank: "1" for "PP" of
// "DP0 PP1 TP3", "" where it is not named, which means that its size is one.
func rankPart(rank, part string) string {
	for f := range strings.FieldsSeq(rank) {
		if n, ok := strings.CutPrefix(f, part); ok {
			return n
		}
	}
	return ""
}

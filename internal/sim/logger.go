package sim

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// logger writes the server's log: one writer, whole lines, safe for concurrent
// use.
type logger struct {
	mu  sync.Mutex
	out io.Writer // the server's log, stderr as in sglang
	web io.Writer // uvicorn's access lines, stdout as in uvicorn
	ms  bool      // SGLANG_LOG_MS: stamps with milliseconds
}

const stamp = "2006-01-02 15:04:05"

// line writes a log line of the main process.
func (l *logger) line(format string, args ...any) { l.ranked("", format, args...) }

// ranked writes a log line of one rank; rank is "" or like " TP0".
func (l *logger) ranked(rank, format string, args ...any) {
	layout := stamp
	if l.ms {
		layout += ".000"
	}
	l.write(l.out, "["+time.Now().Format(layout)+rank+"] "+fmt.Sprintf(format, args...)+"\n")
}

// raw writes what does not come from Python's logging.
func (l *logger) raw(text string) { l.write(l.out, text+"\n") }

// uvicorn writes a line of the HTTP server itself.
func (l *logger) uvicorn(level, format string, args ...any) {
	l.write(l.out, fmt.Sprintf("[%s] %-9s %s\n", time.Now().Format(stamp), level+":", fmt.Sprintf(format, args...)))
}

// access writes one access line.
func (l *logger) access(client, request string, status int, reason string) {
	l.write(l.web, fmt.Sprintf("[%s] INFO:     %s - \"%s HTTP/1.1\" %d %s\n", time.Now().Format(stamp), client, request, status, reason))
}

// bar writes one state of a progress bar; tqdm starts each with a carriage
// return.
func (l *logger) bar(format string, args ...any) { l.write(l.out, "\r"+fmt.Sprintf(format, args...)) }

func (l *logger) write(w io.Writer, s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(w, s) // a log that cannot be written must not stop the server
}

// ranks lists the log prefixes of all ranks; a size of one leaves its part out,
// as sglang does. With attention replicas (dp attention) the replicas lie inside
// the tensor ranks.
func ranks(s Setup, ep int) []string {
	var list []string
	outer := s.DP
	if s.DPAttention {
		outer = 1
	}
	for d := range outer {
		for p := range s.PP {
			for t := range s.TP {
				if s.DPAttention {
					d = t * s.DP / s.TP
				}
				var parts strings.Builder
				for _, part := range []struct {
					name     string
					of, rank int
				}{{"DP", s.DP, d}, {"PP", s.PP, p}, {"TP", s.TP, t}, {"EP", ep, t * ep / s.TP}} {
					if part.of > 1 {
						fmt.Fprintf(&parts, " %s%d", part.name, part.rank)
					}
				}
				list = append(list, parts.String())
			}
		}
	}
	return list
}

// each calls f with the log prefix of every rank.
func (s *server) each(f func(rank string)) {
	for _, r := range s.ranks {
		f(r)
	}
}

// leaders calls f with replica and log prefix of the first tensor rank of every
// pipeline stage and replica; those log what is the same on the others.
func (s *server) leaders(f func(dp int, rank string)) {
	setup := s.timing.setup
	width := setup.TP
	if setup.DPAttention {
		width = setup.TP / setup.DP
	}
	for i := 0; i < len(s.ranks); i += width {
		dp := i / (setup.TP * setup.PP)
		if setup.DPAttention {
			dp = i % setup.TP / width
		}
		f(dp, s.ranks[i])
	}
}

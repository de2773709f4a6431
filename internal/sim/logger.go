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
}

const stamp = "2006-01-02 15:04:05"

// line writes a log line of the main process.
func (l *logger) line(format string, args ...any) { l.ranked("", format, args...) }

// ranked writes a log line of one rank; rank is "" or like " TP0".
func (l *logger) ranked(rank, format string, args ...any) {
	l.write(l.out, "["+time.Now().Format(stamp)+rank+"] "+fmt.Sprintf(format, args...)+"\n")
}

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
// as sglang does.
func ranks(dp, pp, tp, ep int) []string {
	var list []string
	for d := range dp {
		for p := range pp {
			for t := range tp {
				var parts strings.Builder
				for _, part := range []struct {
					name     string
					of, rank int
				}{{"DP", dp, d}, {"PP", pp, p}, {"TP", tp, t}, {"EP", ep, t * ep / tp}} {
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

package remote

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// clockLoop tells the time for every line that it reads. busybox knows no
// nanoseconds and prints what it does not know, or nothing.
const clockLoop = `while read -r x; do date +%s.%N; done`

const clockRounds = 6

// clock compares the host's clock with ours: of some questions the quickest,
// whose answer lies between our two readings.
func (h *Host) clock(ctx context.Context) (ahead, wrong time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := h.Run(ctx, Cmd{label: "date", Argv: []string{"/bin/sh", "-c", clockLoop}, Stdin: inRead, Stdout: outWrite})
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		outWrite.CloseWithError(err)
		inRead.CloseWithError(err)
	}()
	defer func() { <-done }()
	defer inWrite.Close()
	answers := bufio.NewReaderSize(outRead, 4096)
	best := time.Duration(-1)
	for range clockRounds {
		before := time.Now()
		if _, err := io.WriteString(inWrite, "\n"); err != nil {
			return 0, 0, err
		}
		line, err := answers.ReadSlice('\n')
		if err != nil {
			return 0, 0, err
		}
		trip := time.Since(before)
		there, step, ok := readClock(strings.TrimSpace(string(line)))
		if !ok {
			return 0, 0, fmt.Errorf("%s: date printed %q", h.settings.name(), clean(string(line), 40))
		}
		if best < 0 || trip < best {
			best = trip
			ahead = there.Add(step / 2).Sub(before.Add(trip / 2))
			wrong = trip/2 + step/2
		}
	}
	return ahead, wrong, nil
}

// readClock reads seconds, with nanoseconds where date has them, and tells how
// coarse they are.
func readClock(text string) (t time.Time, step time.Duration, ok bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || seconds < 0 || seconds > 1<<40 {
		return t, 0, false
	}
	nanos, err := strconv.ParseInt(fraction, 10, 64)
	if err != nil || len(fraction) != 9 || nanos < 0 {
		return time.Unix(seconds, 0), time.Second, true
	}
	return time.Unix(seconds, nanos), 0, true
}

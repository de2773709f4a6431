package runtimetest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Marked returns the pids of this host's live processes that have text in
// their arguments. Containers' processes are seen from their host too; zombies
// have no arguments.
func Marked(text string) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var pids []int
	for _, file := range files {
		words, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(words, []byte(text)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// until waits for something that a process does.
func until(ctx context.Context, what string, is func() bool) error {
	return within(ctx, 20*time.Second, what, is)
}

func within(ctx context.Context, bound time.Duration, what string, is func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	for !is() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: not in %v", what, bound)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

func untilMarked(ctx context.Context, marker string, n int) error {
	return until(ctx, fmt.Sprintf("%d processes with the marker %s", n, marker), func() bool { return len(Marked(marker)) >= n })
}

// untilGone is for signals that were sent but may not have been acted on yet.
func untilGone(ctx context.Context, marker string) error {
	return within(ctx, 5*time.Second, "no process with the marker "+marker, func() bool { return len(Marked(marker)) == 0 })
}

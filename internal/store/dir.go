package store

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Dir is the data directory. It keeps no state of its own: every call reads
// the disk, so several processes may hold one at the same time. Safe for
// concurrent use.
type Dir struct {
	path string
}

// Problem is something on disk that could not be taken as it stands. It is
// data, not an error: one unreadable file never hides the others.
type Problem struct {
	Path string `json:"path"`
	Text string `json:"text"` // one sentence: what is wrong, and what was done about it
}

func (p Problem) String() string { return p.Path + " " + p.Text }

// RunRef names a run on disk.
type RunRef struct {
	ID  string `json:"id"`  // of the configuration
	Run string `json:"run"` // unique and sortable
}

// Open opens the data directory at path and makes it, for its owner only, when
// it is not there.
func Open(path string) (*Dir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open data directory %s: %w", path, err)
	}
	d := &Dir{path: abs}
	for _, p := range []string{abs, d.nightsDir(), d.runsDir()} {
		if err := makeDir(p); err != nil {
			return nil, fmt.Errorf("open data directory %s: %w", path, err)
		}
	}
	return d, nil
}

// Path is the absolute path of the data directory.
func (d *Dir) Path() string { return d.path }

func (d *Dir) nightsDir() string { return filepath.Join(d.path, "nights") }
func (d *Dir) runsDir() string   { return filepath.Join(d.path, "runs") }

func (d *Dir) runDir(ref RunRef) string { return filepath.Join(d.runsDir(), ref.ID, ref.Run) }

// AttemptDir is where one start of a run's server is kept. It may not exist
// yet.
func (d *Dir) AttemptDir(ref RunRef, attempt int) string {
	return filepath.Join(d.runDir(ref), attemptPrefix+strconv.Itoa(attempt))
}

// LevelDir is where what one level of an attempt produced is kept. It may not
// exist yet.
func (d *Dir) LevelDir(ref RunRef, attempt int, key string) string {
	return filepath.Join(d.AttemptDir(ref, attempt), levelsName, key)
}

// NewRunName returns a name that no run has: its time (UTC, to the
// millisecond), so that names sort as runs started, and four random digits for
// the case of two in one instant.
func (d *Dir) NewRunName(now time.Time) string {
	var tail [2]byte
	_, _ = rand.Read(tail[:]) // never fails
	return now.UTC().Format("20060102T150405.000") + "-" + hex.EncodeToString(tail[:])
}

const (
	attemptPrefix   = "attempt-"
	levelsName      = "levels"
	recordName      = "record.json"
	measurementName = "measurement.json"
	planName        = "plan.json"
	eventsName      = "events.jsonl"

	maxName = 200 // bytes of one path element; file systems take 255
)

// checkName refuses anything that is not a plain path element: names come from
// files and from other machines. what says whose name it is.
func checkName(what, name string) error {
	var bad string
	switch {
	case name == "":
		bad = "is empty"
	case len(name) > maxName:
		bad = fmt.Sprintf("is longer than %d bytes", maxName)
	case strings.HasPrefix(name, "."):
		bad = "starts with a dot"
	case strings.ContainsAny(name, `/\`):
		bad = "holds a path separator"
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }):
		bad = "holds characters that cannot be printed"
	default:
		return nil
	}
	return fmt.Errorf("the name of the %s, %.60q, %s", what, name, bad)
}

func (r RunRef) check() error {
	if err := checkName("configuration", r.ID); err != nil {
		return err
	}
	return checkName("run", r.Run)
}

// attemptNumber reads the number out of the name of an attempt's directory.
func attemptNumber(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, attemptPrefix)
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0 && strconv.Itoa(n) == digits
}

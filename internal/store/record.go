package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sweep/internal/bench"
	"sweep/internal/sweep"
)

// MeasuredError means that the level was measured already in this run. What
// was there stays as it was.
type MeasuredError struct {
	Ref     RunRef
	Attempt int // that holds the measurement
	Key     string
}

func (e *MeasuredError) Error() string {
	return fmt.Sprintf("level %s of run %s is measured already, in attempt %d", e.Key, e.Ref.Run, e.Attempt)
}

// WriteRecord writes the record of one attempt, or its next state. The record
// says itself where it belongs.
func (d *Dir) WriteRecord(r sweep.Record) error {
	ref := RunRef{ID: r.Configuration.ID, Run: r.Run}
	if err := checkAttempt(ref, r.Attempt); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	r.Schema = sweep.Schema
	if err := writeJSON(filepath.Join(d.AttemptDir(ref, r.Attempt), recordName), r); err != nil {
		return fmt.Errorf("write record of run %s, attempt %d: %w", r.Run, r.Attempt, err)
	}
	return nil
}

// WriteMeasurement keeps what one level produced. The first usable measurement
// of a level in a run stays: a second one, of any attempt, is refused with a
// MeasuredError. One that ended before its time (stall, server gone,
// interrupted) or cannot be read does not stand in the way; in the same attempt
// it is renamed to measurement.aside-1.json and so on.
func (d *Dir) WriteMeasurement(ref RunRef, attempt int, m bench.Measurement) error {
	if err := errors.Join(checkAttempt(ref, attempt), checkName("level", m.Key)); err != nil {
		return fmt.Errorf("write measurement: %w", err)
	}
	run, _, err := d.LoadRun(ref)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write measurement of run %s: %w", ref.Run, err)
	}
	for _, have := range run.Measurements {
		if have.Key == m.Key && have.Usable() {
			return &MeasuredError{Ref: ref, Attempt: have.Attempt, Key: m.Key}
		}
	}
	m.Schema, m.Attempt = sweep.Schema, attempt
	path := filepath.Join(d.LevelDir(ref, attempt, m.Key), measurementName)
	if err := setAside(path); err != nil {
		return fmt.Errorf("set a partial measurement of run %s aside: %w", ref.Run, err)
	}
	err = createJSON(path, m)
	if errors.Is(err, fs.ErrExist) {
		return &MeasuredError{Ref: ref, Attempt: attempt, Key: m.Key}
	}
	if err != nil {
		return fmt.Errorf("write measurement of run %s, level %s: %w", ref.Run, m.Key, err)
	}
	return nil
}

// setAside renames what is at path unless it is a usable measurement. Nothing
// that was measured is ever removed.
func setAside(path string) error {
	have, err := readJSON[bench.Measurement](path, maxSmallFile)
	if errors.Is(err, fs.ErrNotExist) || err == nil && have.Usable() {
		return nil
	}
	for i := 1; ; i++ {
		aside := filepath.Join(filepath.Dir(path), fmt.Sprintf("measurement.aside-%d.json", i))
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			return os.Rename(path, aside)
		} else if err != nil {
			return err
		}
	}
}

func checkAttempt(ref RunRef, attempt int) error {
	if attempt < 1 {
		return fmt.Errorf("attempt %d of run %q: attempts count from 1", attempt, ref.Run)
	}
	return ref.check()
}

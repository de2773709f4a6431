package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sweep/internal/sweep"
)

// ErrLocked means that another process writes the journal. It is freed by the
// kernel when that process ends, however it ends.
var ErrLocked = errors.New("another sweep is writing this night")

// Journal is the one writer of a night's events. Safe for concurrent use.
type Journal struct {
	path string

	mu          sync.Mutex
	file        *os.File
	size        int64 // of what is known to be whole
	seq         int64
	broken      error
	subscribers []func(Event)
	problems    []Problem
}

// Journal opens the night's journal for writing and goes on after its last
// event. It fails with ErrLocked while another process holds it. A last line
// that a dying writer left half-written is moved to a file beside it and
// reported by Problems.
func (n *Night) Journal() (*Journal, error) {
	path := n.EventsPath()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open journal of %s: %w", n.id, err)
	}
	j := &Journal{path: path, file: f}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal of %s: %w", n.id, err), f.Close())
	}
	if err := j.recover(); err != nil {
		return nil, errors.Join(fmt.Errorf("read journal of %s: %w", n.id, err), f.Close())
	}
	if err := syncDir(n.dir); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal of %s: %w", n.id, err), f.Close())
	}
	return j, nil
}

// recover finds the last number and sets a half-written last line aside.
func (j *Journal) recover() error {
	var lines int64
	for {
		events, next, problems, err := ReadEvents(j.path, j.size)
		if err != nil {
			return err
		}
		for _, e := range events {
			j.seq = max(j.seq, e.Seq)
		}
		// A line that could not be read had a number too.
		lines += int64(len(events) + len(problems))
		j.problems = append(j.problems, problems...)
		if next == j.size {
			break
		}
		j.size = next
	}
	j.seq = max(j.seq, lines)
	info, err := j.file.Stat()
	if err != nil {
		return err
	}
	torn := info.Size() - j.size
	if torn == 0 {
		return nil
	}
	aside := fmt.Sprintf("%s.torn-%d", j.path, j.size)
	if err := copyWhole(aside, io.NewSectionReader(j.file, j.size, torn)); err != nil {
		return fmt.Errorf("set a half-written line aside: %w", err)
	}
	if err := j.file.Truncate(j.size); err != nil {
		return fmt.Errorf("cut a half-written line off: %w", err)
	}
	j.problems = append(j.problems, Problem{j.path, fmt.Sprintf(
		"ended in a half-written line of %d bytes, as a writer leaves that is killed; it was moved to %s", torn, filepath.Base(aside))})
	return j.file.Sync()
}

// Problems says what was found wrong in the journal when it was opened.
func (j *Journal) Problems() []Problem { return j.problems }

// Append stamps the event with its number, time and schema and writes it. When
// it returns without error, the event is on disk, and every subscriber has
// seen it. After an error that leaves the end of the file unknown, every later
// call fails too.
func (j *Journal) Append(e Event) (Event, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return Event{}, j.broken
	}
	e.Schema, e.Seq, e.At = sweep.Schema, j.seq+1, time.Now().UTC()
	line, err := json.Marshal(e)
	if err != nil {
		return Event{}, fmt.Errorf("encode event %s: %w", e.Type, err)
	}
	line = append(line, '\n')
	if len(line) > maxEventLine {
		return Event{}, fmt.Errorf("write event %s: it is %d bytes long, the limit is %d", e.Type, len(line), maxEventLine)
	}
	if _, err := j.file.Write(line); err != nil {
		// The line may be there in part (disk full): the next one must not
		// continue it.
		if cut := j.file.Truncate(j.size); cut != nil {
			j.broken = fmt.Errorf("journal %s is half-written: %w", j.path, errors.Join(err, cut))
		}
		return Event{}, fmt.Errorf("write event %s: %w", e.Type, err)
	}
	if err := j.file.Sync(); err != nil {
		// After a failed fsync the kernel may have dropped the pages: nobody
		// can say what is on disk.
		j.broken = fmt.Errorf("journal %s could not be made durable: %w", j.path, err)
		return Event{}, j.broken
	}
	j.size += int64(len(line))
	j.seq = e.Seq
	for _, tell := range j.subscribers {
		tell(e)
	}
	return e, nil
}

// Subscribe has fn called with every later event, in order, after it is on
// disk. fn must return quickly and must not call the Journal.
func (j *Journal) Subscribe(fn func(Event)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.subscribers = append(j.subscribers, fn)
}

// Close frees the journal for another writer. Later calls of Append fail.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file, j.broken = nil, fmt.Errorf("journal %s is closed", j.path)
	return err
}

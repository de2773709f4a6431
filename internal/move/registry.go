package move

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"sweep/internal/sweep"
)

// Registry is where entries are kept.
type Registry struct{ dir string }

// OpenRegistry opens the registry below a state directory. It need not be
// there.
func OpenRegistry(stateDir string) Registry { return Registry{filepath.Join(stateDir, movedName)} }

// maxEntry bounds an entry, in bytes.
const maxEntry = 4 << 20

// Save writes an entry, or its next state.
func (r Registry) Save(e *Entry) error {
	e.Schema = sweep.Schema
	text, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return fmt.Errorf("remember the moved night %s: %w", e.Key, err)
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return fmt.Errorf("remember the moved night %s: %w", e.Key, err)
	}
	if err := renameio.WriteFile(r.path(e.Key), append(text, '\n'), 0o600, renameio.WithTempDir(r.dir)); err != nil {
		return fmt.Errorf("remember the moved night %s: %w", e.Key, err)
	}
	return nil
}

// Forget removes an entry.
func (r Registry) Forget(e *Entry) error { return os.Remove(r.path(e.Key)) }

func (r Registry) path(key string) string { return filepath.Join(r.dir, key+".json") }

// List is all entries, newest last. What cannot be read is told and left out.
func (r Registry) List() (entries []*Entry, problems []string, err error) {
	files, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list the moved nights: %w", err)
	}
	for _, f := range files {
		key, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok || strings.HasPrefix(key, ".") || !f.Type().IsRegular() {
			continue
		}
		e, err := r.read(key)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s is left out: %v", r.path(key), err))
			continue
		}
		entries = append(entries, e)
	}
	slices.SortStableFunc(entries, func(a, b *Entry) int { return a.Started.Compare(b.Started) })
	return entries, problems, nil
}

func (r Registry) read(key string) (*Entry, error) {
	info, err := os.Stat(r.path(key))
	if err != nil {
		return nil, err
	}
	if info.Size() > maxEntry {
		return nil, fmt.Errorf("it has %d bytes", info.Size())
	}
	text, err := os.ReadFile(r.path(key))
	if err != nil {
		return nil, err
	}
	var e Entry
	if err := json.Unmarshal(text, &e); err != nil {
		return nil, err
	}
	if e.Schema != sweep.Schema || e.Key != key || e.Held < 1 || e.Alias == "" && e.Address == "" {
		return nil, fmt.Errorf("it is not of this sweep (schema %d)", e.Schema)
	}
	return &e, nil
}

// keepFor is how long a night that is over is remembered.
const keepFor = 30 * 24 * time.Hour

// Prune forgets nights that were over long ago, as far as it can.
func (r Registry) Prune(now time.Time) {
	entries, _, err := r.List()
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Ended && now.Sub(e.Started) > keepFor {
			_ = r.Forget(e) // it is tried again the next time
		}
	}
}

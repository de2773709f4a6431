package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Names of the files in a held directory that others read too.
const (
	ExitFile   = "exit.json"
	OutputFile = "output.log"
)

// The files that only this package reads.
const (
	specFile   = "spec.json"
	stateFile  = "state.json"
	treeFile   = "tree.json"
	killedFile = "killed"
	stopFile   = "stop.json"
	lockFile   = "lock"
)

// identity names one process for good, within one boot of one machine: a
// recycled pid has another start time.
type identity struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since boot, field 22 of /proc/PID/stat
}

// record is state.json. It is written before the command is started, so that
// whatever runs can be found from it, and again with the command's identity.
type record struct {
	ID         string   `json:"id"`
	Boot       string   `json:"boot"`
	Supervisor identity `json:"supervisor"` // leads the session that the command is started in
	Command    identity `json:"command"`
	Since      string   `json:"since"`
}

// load reads a JSON file of the directory; false when it is not there.
func load(dir, name string, into any) (bool, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the held directory: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return false, fmt.Errorf("read the held directory: %w", err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return false, fmt.Errorf("%w: %s: %w", errDamaged, filepath.Join(dir, name), err)
	}
	return true, nil
}

// maxFile bounds a file of the directory, in bytes: what is held may write
// there too.
const maxFile = 4 << 20

// errDamaged is wrapped by the error of a file that this package did not leave
// as it is.
var errDamaged = errors.New("this file is damaged")

// save writes a JSON file of the directory: a reader sees the old or the new.
func save(dir, name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	// The temporary file is made beside it: $TMPDIR may be another disk, or full.
	if err := renameio.WriteFile(filepath.Join(dir, name), append(text, '\n'), 0o600, renameio.WithTempDir(dir)); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// markKilled leaves the fact that KILL was needed. An empty file, because it
// may be needed on a full disk; failing to write it never stops the killing.
func markKilled(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, killedFile), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("note that KILL was needed: %w", err)
	}
	return f.Close()
}

func wasKilled(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, killedFile))
	return err == nil
}

// wasAsked tells whether a Stop was ever asked for in dir.
func wasAsked(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, stopFile))
	return err == nil
}

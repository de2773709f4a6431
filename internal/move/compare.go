package move

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// compare tells whether one of two files is the beginning of the other, and
// whether the second is the longer one.
func compare(old, came string) (beginning, grew bool, err error) {
	a, err := os.Open(old)
	if err != nil {
		return false, false, err
	}
	defer a.Close()
	b, err := os.Open(came)
	if err != nil {
		return false, false, err
	}
	defer b.Close()
	left, right := bufio.NewReaderSize(a, 1<<16), bufio.NewReaderSize(b, 1<<16)
	for {
		x, xErr := left.ReadByte()
		y, yErr := right.ReadByte()
		switch {
		case xErr == io.EOF && yErr == io.EOF: //nolint:errorlint // bufio returns it as it is
			return true, false, nil
		case xErr == io.EOF && yErr == nil: //nolint:errorlint
			return true, true, nil
		case yErr == io.EOF && xErr == nil: //nolint:errorlint
			return true, false, nil
		case xErr != nil || yErr != nil:
			return false, false, errors.Join(xErr, yErr)
		case x != y:
			return false, false, nil
		}
	}
}

// open tells whether the attempt that a file belongs to is under way, here and
// over there the same one: its files may change.
func open(staging, home, rel string) bool {
	attempt, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	old, ok := readAttempt(filepath.Join(home, attempt, recordFile))
	if !ok || old.Ended != nil {
		return false
	}
	came, ok := readAttempt(filepath.Join(staging, attempt, recordFile))
	return ok && came.Run == old.Run && came.Attempt == old.Attempt && came.Started.Equal(old.Started)
}

// attemptHead is what of a record tells which attempt it is of, and whether
// that has ended.
type attemptHead struct {
	Run     string     `json:"run"`
	Attempt int        `json:"attempt"`
	Started time.Time  `json:"started"`
	Ended   *time.Time `json:"ended"`
}

func readAttempt(file string) (h attemptHead, ok bool) {
	text, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(text, &h) != nil {
		return h, false
	}
	return h, h.Run != ""
}

// maxJSON bounds the JSON files that are looked into; larger ones are plans.
const maxJSON = 64 << 20

func validJSON(file string) bool {
	info, err := os.Stat(file)
	if err != nil || info.Size() > maxJSON {
		return err == nil
	}
	text, err := os.ReadFile(file)
	return err == nil && json.Valid(text)
}

// private gives staged files the modes that records have.
func private(dir string) error {
	return filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.Chmod(file, 0o700)
		}
		return os.Chmod(file, 0o600)
	})
}

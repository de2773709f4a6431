package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"sweep/internal/sweep"
)

// Bounds on what is read whole. A record of a real server is some 50 kB; a
// plan of 100,000 configurations some 200 MB.
const (
	maxSmallFile = 32 << 20
	maxPlanFile  = 1 << 30
)

// readJSON reads one file that sweep wrote. Its errors make a Problem's text;
// with one, nothing half-filled is returned.
func readJSON[T any](path string, limit int64) (T, error) {
	var v, none T
	data, err := readBounded(path, limit)
	if err != nil {
		return none, err
	}
	if err := checkSchema(data); err != nil {
		return none, err
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return none, fmt.Errorf("cannot be decoded (%w); it is left out", err)
	}
	return v, nil
}

// readBounded reads a regular file up to limit bytes. A link or a pipe in the
// data directory was not made by sweep and is not followed.
func readBounded(path string, limit int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file; it is left out")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("is larger than %d MiB; it is left out", limit>>20)
	}
	return data, nil
}

// problem turns the error of reading path into data.
func problem(path string, err error) Problem {
	switch pathErr := (*fs.PathError)(nil); {
	case errors.Is(err, fs.ErrNotExist):
		return Problem{path, "is missing"}
	case errors.As(err, &pathErr):
		return Problem{path, fmt.Sprintf("cannot be read (%v); it is left out", pathErr.Err)}
	default:
		return Problem{path, err.Error()}
	}
}

// checkSchema looks at the schema alone, before anything else is decoded: a
// newer file may have the same names with other meanings.
func checkSchema(data []byte) error {
	var head struct {
		Schema *int `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("cannot be decoded (%w); it is left out", err)
	}
	switch {
	case head.Schema == nil || *head.Schema < 1:
		return errors.New("says no schema, so sweep did not write it; it is left out")
	case *head.Schema > sweep.Schema:
		return fmt.Errorf("was written by a newer sweep (schema %d, this one reads %d); it is left out: use that sweep", *head.Schema, sweep.Schema)
	}
	return nil
}

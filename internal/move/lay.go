package move

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Names of sweep's own files that say how the others stand.
const (
	recordFile = "record.json"
	planFile   = "plan.json"
)

// seed links what is at home into the staging directory, so that only what is
// new is sent. What is staged already, from a time before the link was lost,
// stays.
func seed(home, staging string) error {
	if _, err := os.Stat(staging); err == nil {
		return nil
	}
	if err := os.MkdirAll(staging, 0o700); err != nil {
		return err
	}
	err := filepath.WalkDir(home, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(home, file)
		if err != nil {
			return err
		}
		to := filepath.Join(staging, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		_ = os.Link(file, to) // a disk without links: it is sent again
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// lay takes staged files home. What it refuses it names: it never replaces a
// file of something finished by another content.
func lay(staging, home string) (refused []string, err error) {
	if _, err := os.Lstat(home); errors.Is(err, fs.ErrNotExist) {
		if err := private(staging); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(filepath.Dir(home), 0o700); err != nil {
			return nil, err
		}
		return nil, os.Rename(staging, home) // it is there as a whole or not at all
	}
	if differs, err := otherPlan(staging, home); err != nil || differs {
		return []string{"there is another night of that name here"}, err
	}
	var files []string
	err = filepath.WalkDir(staging, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			rel, err := filepath.Rel(staging, file)
			if err != nil {
				return err
			}
			files = append(files, rel)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	// Records last: a record that says "ended" closes its attempt.
	slices.SortStableFunc(files, func(a, b string) int { return rank(a) - rank(b) })
	for _, rel := range files {
		why, err := layFile(staging, home, rel)
		if err != nil {
			return refused, err
		}
		if why != "" {
			refused = append(refused, rel+": "+why)
		}
	}
	return refused, nil
}

func rank(rel string) int {
	if filepath.Base(rel) == recordFile {
		return 1
	}
	return 0
}

func otherPlan(staging, home string) (bool, error) {
	old, err := os.ReadFile(filepath.Join(home, planFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	text, err := os.ReadFile(filepath.Join(staging, planFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && !bytes.Equal(old, text), err
}

// layFile takes one file home, or says why not.
func layFile(staging, home, rel string) (why string, err error) {
	from, to := filepath.Join(staging, rel), filepath.Join(home, rel)
	if strings.HasSuffix(rel, ".json") && !validJSON(from) {
		return "", nil // it was replaced while it was read; the next time has it
	}
	here, err := os.Lstat(to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", err
	case !here.Mode().IsRegular():
		return "there is something else of that name here", nil
	default:
		came, err := os.Stat(from)
		if err != nil {
			return "", err
		}
		if os.SameFile(here, came) {
			return "", nil
		}
		first, grew, err := compare(to, from)
		switch {
		case err != nil:
			return "", err
		case first && !grew:
			return "", nil // the same, or we know more
		case !first && !open(staging, home, rel):
			return "it is here, finished, with another content", nil
		}
	}
	if err := os.Chmod(from, 0o600); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return "", err
	}
	return "", os.Rename(from, to)
}

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sweep/internal/matrix"
	"sweep/internal/sweep"
)

// readFile reads a sweep file, "-" being standard input. Whatever is in the way
// is one sentence that says what, where, and what to do next.
func readFile(name string, stdin io.Reader) ([]byte, error) {
	if name == "-" {
		text, err := io.ReadAll(io.LimitReader(stdin, sweep.MaxFile+1))
		switch {
		case err != nil:
			return nil, usage("standard input cannot be read as a sweep file: %w; name the file instead", err)
		case len(text) > sweep.MaxFile:
			return nil, usage("what comes on standard input is larger than %s, the most that a sweep file may have: check what is piped into it", sizeText(sweep.MaxFile))
		}
		return text, nil
	}
	info, err := os.Stat(name)
	if err == nil {
		err = fitFile(name, info)
	}
	if err != nil {
		return nil, unreadable(name, err)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, sweep.MaxFile+1))
	if err == nil && len(text) > sweep.MaxFile { // it grew, or is one of those whose size is not told
		err = tooLarge(name, fmt.Sprintf("more than %s", sizeText(sweep.MaxFile)))
	}
	if err != nil {
		return nil, unreadable(name, err)
	}
	if what := otherKind(name, text); what != "" {
		return nil, usage("%s is %s, not a sweep file: %s", name, what, instead(name))
	}
	return text, nil
}

// fitFile refuses what cannot be a sweep file before it is opened: opening a
// pipe would wait for ever, and nobody waits for two gigabytes to be read.
func fitFile(name string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsDir():
		files := sweepFiles(name)
		if len(files) == 0 {
			files = sweepFiles(filepath.Join(name, "sweeps"))
		}
		if len(files) > 0 {
			return usage("%s is a directory, not a sweep file: name one of %s", name, listed(files))
		}
		return usage("%s is a directory, not a sweep file, and there is none in it: `sweep init %s` writes one to start from", name, filepath.Join(name, "night.yaml"))
	case !mode.IsRegular():
		return usage("%s is %s, not a file: save the sweep file and name it, or pipe it into `-`", name, kindOfFile(mode))
	case info.Size() > sweep.MaxFile:
		return tooLarge(name, sizeText(info.Size()))
	}
	return nil
}

func tooLarge(name, size string) error {
	return usage("%s has %s, and a sweep file at most %s: %s", name, size, sizeText(sweep.MaxFile), instead(name))
}

// unreadable says why a file could not be read, and what to do about it.
func unreadable(name string, err error) error {
	var said *codeError
	switch {
	case errors.As(err, &said):
		return err
	case errors.Is(err, fs.ErrPermission):
		return usage("the sweep file %s cannot be read: this user may not; `ls -ld %s` says who may", name, name)
	case errors.Is(err, fs.ErrNotExist):
		dir := filepath.Dir(name)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return usage("there is no sweep file %s, nor a directory %s: `ls` shows what there is here, `sweep init` writes a file to start from", name, dir)
		}
		return usage("there is no sweep file %s: %s", name, instead(name))
	}
	return usage("the sweep file %s cannot be read: %w; `ls -ld %s` shows what it is", name, err, name)
}

// instead is what a person may have meant, or can do, who named a file that is
// none, or no sweep file.
func instead(name string) string {
	dir := filepath.Dir(name)
	other := func(f string) bool { return filepath.Clean(f) != filepath.Clean(name) }
	var stems, named []string // with their ending all names are alike
	for _, f := range yamlFiles(dir) {
		if other(f) {
			stems, named = append(stems, stem(f)), append(named, f)
		}
	}
	if near := matrix.Near(stem(name), stems); near != "" {
		return fmt.Sprintf("did you mean %s?", named[slices.Index(stems, near)])
	}
	files := slices.DeleteFunc(sweepFiles(dir), func(f string) bool { return !other(f) })
	if len(files) == 0 {
		files = sweepFiles(filepath.Join(dir, "sweeps"))
	}
	if len(files) > 0 {
		return fmt.Sprintf("there are %s; `sweep init` writes a new one to start from", listed(files))
	}
	return "`sweep init` writes one to start from"
}

// stem is a file's name without directory and ending.
func stem(name string) string {
	base := filepath.Base(name)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// lookedAt bounds how many names of a directory are looked at for a message.
const lookedAt = 2000

// sweepFiles are the sweep files of a directory, by name, as far as a look at
// them tells.
func sweepFiles(dir string) []string {
	files := yamlFiles(dir)
	return slices.DeleteFunc(files[:min(len(files), openedFor)], func(f string) bool { return !likeSweepFile(f) })
}

// yamlFiles are the YAML files of a directory, by name; hosts.yaml is none, nor
// are hidden ones.
func yamlFiles(dir string) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	entries, _ := d.ReadDir(lookedAt) // what could be read is as good as it gets
	var files []string
	for _, e := range entries {
		yaml := strings.HasSuffix(e.Name(), ".yaml") || strings.HasSuffix(e.Name(), ".yml")
		if yaml && e.Type().IsRegular() && e.Name() != "hosts.yaml" && !strings.HasPrefix(e.Name(), ".") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(files)
	return files
}

// Bounds of looking into files for a message.
const (
	openedFor = 200
	readOf    = 64 << 10
)

// sweepKeys are what a sweep file has, right or nearly.
var sweepKeys = regexp.MustCompile(`(?m)^(?:server|bench|matrix) *:`)

// likeSweepFile tells whether a file may be a sweep file: YAML is used for much
// else.
func likeSweepFile(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, readOf))
	return err == nil && sweepKeys.Match(text)
}

// listed names a few files.
func listed(files []string) string {
	const most = 5
	if len(files) > most {
		return strings.Join(files[:most], ", ") + ", …"
	}
	return strings.Join(files, ", ")
}

func kindOfFile(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

func sizeText(bytes int64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", bytes>>10)
}

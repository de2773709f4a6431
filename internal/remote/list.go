package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

// Entry is a file or directory of the host.
type Entry struct {
	Path    string // as asked for, or under the directory that was read
	Size    int64
	Mode    fs.FileMode // type and permissions
	ModTime time.Time   // full seconds
	Inode   uint64
}

// IsDir tells whether it is a directory.
func (e Entry) IsDir() bool { return e.Mode.IsDir() }

const (
	maxListing  = 32 << 20 // bytes
	listFormat  = "%f %s %Y %i %n"
	codeMissing = 98 // the script found nothing there
)

// Stat looks at one file, following links. A missing one is fs.ErrNotExist.
func (h *Host) Stat(ctx context.Context, remotePath string) (Entry, error) {
	entries, err := h.list(ctx, remotePath, `[ -e "$1" ] || exit 98; exec stat -L -c "$2" "$1"`)
	if err == nil && len(entries) != 1 {
		err = fmt.Errorf("%s: look at %s: the host answered with %d entries", h.settings.name(), remotePath, len(entries))
	}
	if err != nil {
		return Entry{}, err
	}
	entries[0].Path = remotePath
	return entries[0], nil
}

// ReadDir lists a directory, in no
// order. Links are told as links.
func (h *Host) ReadDir(ctx context.Context, remotePath string) ([]Entry, error) {
	return h.list(ctx, remotePath, `[ -d "$1" ] || exit 98; exec find "$1/" -mindepth 1 -maxdepth 1 -exec stat -c "$2" {} +`)
}

// list runs a script that prints lines in listFormat.
func (h *Host) list(ctx context.Context, remotePath, script string) ([]Entry, error) {
	if err := checkPath(remotePath); err != nil {
		return nil, err
	}
	out, err := h.Output(ctx, Cmd{label: "list files", Argv: []string{"/bin/sh", "-c", "LC_ALL=C; export LC_ALL; " + script, "sh", remotePath, listFormat},
		Sudo: h.settings.Sudo}, maxListing)
	var exit *ExitError
	if errors.As(err, &exit) && exit.Code == codeMissing {
		return nil, &fs.PathError{Op: h.settings.name() + ": look at", Path: remotePath, Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", remotePath, err)
	}
	return parseListing(out), nil
}

// parseListing reads lines in listFormat. Lines that are none, such as the
// rest of a name with a line break in it, are left out: sweep makes no such
// names, and a host that does gets no say in what they mean.
func parseListing(data []byte) []Entry {
	var entries []Entry
	for line := range bytes.Lines(data) {
		text, whole := strings.CutSuffix(string(line), "\n")
		words := strings.SplitN(text, " ", 5)
		if len(words) != 5 || !whole {
			continue
		}
		mode, err1 := strconv.ParseUint(words[0], 16, 32)
		size, err2 := strconv.ParseInt(words[1], 10, 64)
		mtime, err3 := strconv.ParseInt(words[2], 10, 64)
		inode, err4 := strconv.ParseUint(words[3], 10, 64)
		if errors.Join(err1, err2, err3, err4) != nil || size < 0 || words[4] == "" {
			continue
		}
		entries = append(entries, Entry{Path: path.Clean(words[4]), Size: size, Mode: fileMode(uint32(mode)), ModTime: time.Unix(mtime, 0), Inode: inode})
	}
	return entries
}

// fileMode translates st_mode of Linux.
func fileMode(mode uint32) fs.FileMode {
	kinds := map[uint32]fs.FileMode{0o100000: 0, 0o040000: fs.ModeDir, 0o120000: fs.ModeSymlink, 0o010000: fs.ModeNamedPipe,
		0o140000: fs.ModeSocket, 0o060000: fs.ModeDevice, 0o020000: fs.ModeDevice | fs.ModeCharDevice}
	kind, ok := kinds[mode&0o170000]
	if !ok {
		kind = fs.ModeIrregular
	}
	return kind | fs.FileMode(mode&0o777)
}

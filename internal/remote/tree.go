package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits bound what a host may send: it is not trusted to be sensible.
type Limits struct {
	Files int   // number of files; 0: 100000
	File  int64 // bytes of one file; 0: 8 GiB
	Total int64 // bytes of all that is brought in one call; 0: 64 GiB
}

func (l Limits) filled() Limits {
	if l.Files <= 0 {
		l.Files = 100_000
	}
	if l.File <= 0 {
		l.File = 8 << 30
	}
	if l.Total <= 0 {
		l.Total = 64 << 30
	}
	return l
}

// Pulled tells what PullTree did.
type Pulled struct {
	Files   int      // brought or added to
	Same    int      // were here already
	Bytes   int64    // that were written here
	Refused []string // names that were not brought, and why; at most 100
}

// maxRefused bounds the list of what was refused.
const maxRefused = 100

// PullTree brings home the files under a directory of the host. A file of the
// same size and time (to the second) is here already; one that grew gets what
// it lacks; each takes its name in one step. Only plain files come: no link,
// device or pipe is looked at, no name leads out of localDir, which links in
// it do not either. Want may leave files out; nil wants all. Files that vanish
// meanwhile are left out. It can be called again after any error.
func (h *Host) PullTree(ctx context.Context, remoteDir, localDir string, limits Limits, want func(name string, size int64) bool) (Pulled, error) {
	fail := func(p Pulled, err error) (Pulled, error) {
		return p, fmt.Errorf("bring %s home: %w", remoteDir, err)
	}
	if err := os.MkdirAll(localDir, 0o755); err != nil {
		return fail(Pulled{}, err)
	}
	root, err := os.OpenRoot(localDir)
	if err != nil {
		return fail(Pulled{}, err)
	}
	defer root.Close()
	t := &tree{host: h, root: root, remote: path.Clean(remoteDir), limits: limits.filled()}
	defer t.close()
	files, err := t.list(ctx, want)
	if err != nil {
		return fail(t.pulled, err)
	}
	return t.finish(fail, t.bring(ctx, files))
}

func (t *tree) finish(fail func(Pulled, error) (Pulled, error), err error) (Pulled, error) {
	if err != nil {
		return fail(t.pulled, err)
	}
	return t.pulled, nil
}

// tree is one call of PullTree.
type tree struct {
	host   *Host
	root   *os.Root
	remote string
	limits Limits
	pulled Pulled
	f      *follower // of the file that is being read
}

func (t *tree) close() {
	if t.f != nil {
		t.f.close()
	}
}

func (t *tree) refuse(name, why string) {
	if len(t.pulled.Refused) < maxRefused {
		t.pulled.Refused = append(t.pulled.Refused, clean(name, 120)+": "+why)
	}
}

// listScript prints plain files only, and lets stat be silent about those that
// vanish. What find itself complains of makes the listing incomplete.
const listScript = `cd "$1" 2>/dev/null || exit 98
exec find . -type f -exec /bin/sh -c 'stat -c "$0" "$@" 2>/dev/null; exit 0' "$2" {} +`

// list is what has to be brought.
func (t *tree) list(ctx context.Context, want func(string, int64) bool) ([]Entry, error) {
	entries, err := t.host.list(ctx, t.remote, listScript)
	if err != nil {
		return nil, err
	}
	var files []Entry
	total := int64(0)
	for _, e := range entries {
		switch {
		case !e.Mode.IsRegular() || strings.HasPrefix(path.Base(e.Path), ".sweep-"): // a push that is under way
			continue
		case !safeName(e.Path):
			t.refuse(e.Path, "not a name that is written here")
			continue
		case want != nil && !want(e.Path, e.Size):
			continue
		case e.Size > t.limits.File:
			t.refuse(e.Path, fmt.Sprintf("%s are more than the limit of %s", amount(e.Size), amount(t.limits.File)))
			continue
		}
		here, err := t.root.Lstat(filepath.FromSlash(e.Path))
		if err == nil && here.Mode().IsRegular() && here.Size() == e.Size && here.ModTime().Unix() == e.ModTime.Unix() {
			t.pulled.Same++
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		files = append(files, e)
		if total += e.Size; total > t.limits.Total || len(files) > t.limits.Files {
			return nil, fmt.Errorf("%s offers more than %s or %d files", t.host.settings.name(), amount(t.limits.Total), t.limits.Files)
		}
	}
	return files, nil
}

// safeName accepts relative names of printable letters that stay below the
// directory, on any system.
func safeName(name string) bool {
	if len(name) > 1024 || !utf8.ValidString(name) || !filepath.IsLocal(filepath.FromSlash(name)) || strings.Contains(name, `\`) {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

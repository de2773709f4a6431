package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// overlap is how much of the end of the local copy is compared before a longer
// file of the host is taken for its continuation.
const overlap = block

// bring copies files one after the other through one session.
func (t *tree) bring(ctx context.Context, files []Entry) error {
	t.f = &follower{host: t.host}
	for _, e := range files {
		err := t.file(ctx, e)
		var replaced *ReplacedError
		switch {
		case err == nil:
			t.pulled.Files++
		case errors.As(err, &replaced):
			t.refuse(e.Path, "it changed while it was read; the next time will have it")
		case errors.Is(err, fs.ErrNotExist) && isPathError(err):
			// gone since it was listed
		case errors.Is(err, fs.ErrPermission) && isPathError(err):
			t.refuse(e.Path, "it may not be read")
		default:
			return fmt.Errorf("%s: %w", e.Path, err)
		}
	}
	return nil
}

// file brings one file, of the size that it had when it was listed.
func (t *tree) file(ctx context.Context, e Entry) (err error) {
	name := filepath.FromSlash(e.Path)
	if err := t.root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return local(err)
	}
	temp := filepath.Join(filepath.Dir(name), "."+newMark())
	out, err := t.root.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return local(err)
	}
	defer func() {
		out.Close()
		if err != nil {
			_ = t.root.Remove(temp)
		}
	}()
	have, err := t.resume(ctx, e, name, out)
	if err != nil {
		return err
	}
	if err := t.rest(ctx, e, have, out); err != nil {
		return err
	}
	if err := errors.Join(out.Sync(), out.Close()); err != nil {
		return local(err)
	}
	if err := t.root.Chtimes(temp, e.ModTime, e.ModTime); err != nil {
		return local(err)
	}
	if err := t.root.Rename(temp, name); err != nil {
		return local(err)
	}
	return nil
}

// resume copies the local file into the new one if the host's begins with it,
// and returns how many bytes that saves.
func (t *tree) resume(ctx context.Context, e Entry, name string, out io.ReadWriteSeeker) (int64, error) {
	here, err := t.root.Lstat(name)
	if err != nil || !here.Mode().IsRegular() || here.Size() == 0 || here.Size() >= e.Size {
		return 0, nil // nothing to go on from
	}
	old, err := t.root.Open(name)
	if err != nil {
		return 0, nil
	}
	defer old.Close()
	shared := min(here.Size(), overlap)
	mine := make([]byte, shared)
	if _, err := old.ReadAt(mine, here.Size()-shared); err != nil {
		return 0, nil
	}
	t.seek(e, here.Size()-shared)
	theirs, err := t.f.read(ctx, shared)
	if err != nil {
		return 0, err
	}
	if int64(len(theirs)) < shared || !bytes.Equal(mine, theirs[:shared]) {
		return 0, nil
	}
	if _, err := io.Copy(out, io.LimitReader(old, here.Size())); err != nil {
		return 0, local(err)
	}
	return here.Size(), nil
}

// rest reads from an offset to the end.
func (t *tree) rest(ctx context.Context, e Entry, have int64, out io.Writer) error {
	t.seek(e, have)
	for t.f.next < e.Size || t.f.inode == 0 {
		data, err := t.f.read(ctx, min(e.Size-t.f.next, maxPiece))
		if err != nil {
			return err
		}
		if len(data) == 0 && t.f.next < e.Size {
			return &ReplacedError{Host: t.host.settings.name(), Path: e.Path, Offset: t.f.next, Size: t.f.size}
		}
		if over := t.f.next - e.Size; over > 0 {
			data = data[:int64(len(data))-over]
		}
		if _, err := out.Write(data); err != nil {
			return local(err)
		}
		t.pulled.Bytes += int64(len(data))
	}
	return nil
}

// seek turns to a file. Its inode stays to be seen: a name that was replaced
// since the listing is a whole file too.
func (t *tree) seek(e Entry, offset int64) {
	t.f.path, t.f.next, t.f.inode, t.f.size = path.Join(t.remote, e.Path), offset, 0, 0
}

// local marks an error of this machine, which no other file will be spared.
func local(err error) error { return fmt.Errorf("write it here: %w", withoutPathError{err}) }

// withoutPathError hides that an error is one about a path: those of the host
// are skipped.
type withoutPathError struct{ err error }

func (w withoutPathError) Error() string { return w.err.Error() }

package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// ReplacedError is a file that is not the one that was read before: it became
// shorter, or another took its name. The bytes read so far belong to the old.
type ReplacedError struct {
	Host   string
	Path   string
	Offset int64 // how far it was read
	Size   int64 // how large it is now
}

func (e *ReplacedError) Error() string {
	return fmt.Sprintf("%s: %s was replaced: %d bytes were read, and now it has %d", e.Host, e.Path, e.Offset, e.Size)
}

// follower reads one file forward, over lost connections.
type follower struct {
	host  *Host
	path  string
	next  int64 // offset of what is read next
	inode uint64
	r     *reader
	size  int64 // as last seen
}

func (f *follower) close() {
	if f.r != nil {
		f.r.close()
		f.r = nil
	}
}

// read returns what comes next, at most max bytes; nothing at the end of the
// file. Reading changes nothing, so it is done again after a loss.
func (f *follower) read(ctx context.Context, max int64) ([]byte, error) {
	for try := 0; ; try++ {
		if f.r == nil {
			f.r = f.host.newReader(ctx)
		}
		p, err := f.r.at(ctx, f.path, f.next, max)
		if err != nil {
			if !isPathError(err) {
				f.close()
			}
			if ctx.Err() != nil {
				return nil, fmt.Errorf("%s: read %s: %w", f.host.settings.name(), f.path, context.Cause(ctx))
			}
			if (errors.Is(err, ErrLost) || errors.Is(err, errDesync)) && try < 5 {
				continue // a new session waits for the new connection
			}
			return nil, err
		}
		if p.size < f.next || f.inode != 0 && p.inode != f.inode {
			return nil, &ReplacedError{Host: f.host.settings.name(), Path: f.path, Offset: f.next, Size: p.size}
		}
		f.inode, f.size = p.inode, p.size
		f.next += int64(len(p.data))
		return p.data, nil
	}
}

// Pull writes a file of the host to w, from an offset to the end that the file
// has at the start, and returns the offset of the next byte. A lost connection
// is made up for; after an error, calling again with the returned offset goes
// on. Where the file is shorter than offset, it is a *ReplacedError.
func (h *Host) Pull(ctx context.Context, remotePath string, offset int64, w io.Writer) (next int64, err error) {
	if offset < 0 {
		return offset, fmt.Errorf("pull %s: offset %d is negative", remotePath, offset)
	}
	f := &follower{host: h, path: remotePath, next: offset}
	defer f.close()
	end := int64(-1)
	for end < 0 || f.next < end {
		before := f.next
		data, err := f.read(ctx, maxPiece)
		if err != nil {
			return before, err
		}
		if end < 0 {
			end = f.size
		}
		if len(data) == 0 && f.next < end {
			return before, &ReplacedError{Host: h.settings.name(), Path: remotePath, Offset: before, Size: f.size}
		}
		if keep := end - before; int64(len(data)) > keep {
			data, f.next = data[:keep], end
		}
		if _, err := w.Write(data); err != nil {
			return before, fmt.Errorf("pull %s: %w", remotePath, err)
		}
	}
	return f.next, nil
}

package remote

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// TailInterval is how often a file is asked for news. A question costs the
// host two short processes.
const TailInterval = 500 * time.Millisecond

// Tail follows a file that grows: it calls got with what is there from the
// offset on and with what comes, in order and without gaps, until ctx ends or
// got returns an error, which Tail returns. A file that is not there yet is
// waited for. A lost connection is replaced, and it goes on at the byte where
// it was. Where the file was truncated or replaced, the error is a
// *ReplacedError. The bytes belong to got only while it runs.
func (h *Host) Tail(ctx context.Context, remotePath string, offset int64, got func([]byte) error) error {
	f := &follower{host: h, path: remotePath, next: max(offset, 0)}
	defer f.close()
	for {
		data, err := f.read(ctx, maxPiece/4)
		switch {
		case errors.Is(err, fs.ErrNotExist) && f.inode == 0:
		case errors.Is(err, fs.ErrNotExist):
			return &ReplacedError{Host: h.settings.name(), Path: remotePath, Offset: f.next}
		case err != nil:
			return err
		}
		if len(data) > 0 {
			if err := got(data); err != nil {
				return err
			}
			if f.next < f.size {
				continue // there is more already
			}
		}
		if err := sleep(ctx, TailInterval); err != nil {
			return err
		}
	}
}

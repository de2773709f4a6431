package incus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
)

// ReadAt returns up to max bytes of a file from offset on, in a running or
// stopped container; none and no error at its end or beyond it. file is
// absolute. A missing one is fs.ErrNotExist.
//
// Only what has a size is opened. So a directory and a symbolic link are
// ErrNotFile, and a named pipe, a device and a file of /proc read as empty: the
// daemon does not tell these from an empty file. Directories on the way may be
// links. One at the end is not followed, because the daemon works out where it
// leads by text alone, which is wrong where the directory is a link too.
func (c *Client) ReadAt(ctx context.Context, name, file string, offset int64, max int) ([]byte, error) {
	op := fmt.Sprintf("read %s in the instance %s", clean(file), name)
	if !path.IsAbs(file) || offset < 0 || max < 0 {
		return nil, &Error{Op: op, Text: fmt.Sprintf("an absolute path and no negative numbers are expected, got offset %d, %d bytes", offset, max)}
	}
	ctx, cancel := context.WithTimeout(ctx, filing)
	defer cancel()
	var text []byte
	err := c.again(ctx, func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(ctx, c.quick)
		defer cancel()
		text, err = c.readOnce(ctx, name, file, offset, max)
		if errors.Is(err, ErrNotFound) {
			err = c.missing(ctx, name)
		}
		return err
	}, worthReading)
	if err != nil {
		return nil, c.failed(ctx, op, err)
	}
	return text, nil
}

func (c *Client) readOnce(ctx context.Context, name, file string, offset int64, max int) ([]byte, error) {
	e, err := c.entry(ctx, name, file)
	if refusal, ok := errors.AsType[*Error](err); ok && refusal.Kind == nil {
		return nil, c.reason(ctx, name, file, refusal)
	}
	if err != nil {
		return nil, err
	}
	left := e.size - offset
	switch {
	case e.kind != isFile:
		return nil, notFile(e.kind)
	case left <= 0 || max == 0:
		return nil, nil
	}
	return c.readRange(ctx, name, file, offset, min(int64(max), left))
}

// readRange reads n bytes, or less where the file became shorter.
func (c *Client) readRange(ctx context.Context, name, file string, offset, n int64) ([]byte, error) {
	r := filesOf(http.MethodGet, name, file)
	r.header = http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", offset, offset+n-1)}}
	resp, err := c.do(ctx, r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	kind := resp.Header.Get("X-Incus-Type")
	switch status := resp.StatusCode; {
	case status == http.StatusRequestedRangeNotSatisfiable:
		return nil, nil
	case status != http.StatusOK && status != http.StatusPartialContent:
		if _, err = decode(resp.Body, status); err == nil {
			err = &Error{Kind: ErrAnswer, Code: status, Text: "an answer that is no file"}
		}
		if _, judged := errors.AsType[*Error](err); !judged {
			err = c.unanswered(ctx, err)
		}
		return nil, err
	case kind != isFile: // by now
		return nil, notFile(kind)
	case status == http.StatusPartialContent:
		if got := resp.Header.Get("Content-Range"); !strings.HasPrefix(got, fmt.Sprintf("bytes %d-", offset)) {
			return nil, &Error{Kind: ErrAnswer, Text: clean(fmt.Sprintf("asked for the bytes from %d on it sends %q", offset, got))}
		}
	default: // the whole file
		if _, err := io.CopyN(io.Discard, resp.Body, offset); errors.Is(err, io.EOF) {
			return nil, nil
		} else if err != nil {
			return nil, c.unanswered(ctx, err)
		}
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, n))
	if err != nil {
		return nil, c.unanswered(ctx, err)
	}
	return text, nil
}

func notFile(kind string) error {
	return &Error{Kind: ErrNotFile, Text: clean("it is a " + kind)}
}

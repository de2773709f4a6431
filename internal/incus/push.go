package incus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// errInput: the reader that was given to Push failed, not the instance.
var errInput = errors.New("read what is to be pushed")

// Push writes a file in a running or stopped container. Missing parent
// directories are made, and belong to root. file is absolute; uid and gid are
// numbers inside; of mode the permission bits count, and nobody without them
// can read the file meanwhile. What is there is removed first: a link too, not
// what it leads to; a directory is ErrNotFile.
//
// It is not atomic, because the daemon cannot rename: a reader may find the
// file missing, empty or half written, and so may anybody after an error. Who
// needs more pushes to another name and renames inside. ErrPoolFull when there
// is no room. After ErrUnknown pushing it again, from the beginning, is safe.
func (c *Client) Push(ctx context.Context, name, file string, data io.Reader, mode fs.FileMode, uid, gid int) error {
	op := fmt.Sprintf("push %s into the instance %s", clean(file), name)
	if !path.IsAbs(file) || strings.HasSuffix(file, "/") || uid < 0 || gid < 0 {
		return &Error{Op: op, Text: fmt.Sprintf("the path of a file, from the root on, and an owner are expected, got uid %d, gid %d", uid, gid)}
	}
	ctx, cancel := context.WithTimeout(ctx, filing)
	defer cancel()
	file = path.Clean(file)
	there, err := c.occupied(ctx, name, file)
	if err != nil {
		return c.failed(ctx, op, err)
	}
	if there {
		err = c.repeat(ctx, filesOf(http.MethodDelete, name, file))
		if errors.Is(err, ErrNotFound) {
			err = nil // an earlier try removed it
		}
	} else {
		err = c.makeDirectory(ctx, name, path.Dir(file))
	}
	if err == nil {
		err = c.write(ctx, name, file, data, mode, uid, gid)
	}
	switch {
	case errors.Is(err, errInput): // whatever broke off there
	case lost(err):
		err = &Error{Kind: &unknownError{cause: err}}
	case refusedForNow(err): // but what came before it was done
		err = &Error{Kind: ErrUnknown, Text: clean(err.Error())}
	}
	return c.failed(ctx, op, err)
}

// occupied tells whether there is something to remove at the path of a file.
// An answer that says nothing of it is left to the writing, which is told why.
func (c *Client) occupied(ctx context.Context, name, file string) (there bool, err error) {
	var e entry
	err = c.again(ctx, func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(ctx, c.quick)
		defer cancel()
		e, err = c.entry(ctx, name, file)
		return err
	}, worthReading)
	refusal, _ := errors.AsType[*Error](err)
	switch {
	case refusal != nil && (refusal.Kind == nil || errors.Is(err, ErrNotFound)):
		return false, nil
	case err == nil && e.kind == isDirectory:
		return false, notFile(e.kind)
	}
	return true, err
}

// makeDirectory makes a directory and those above it; one that is there is
// left as it is.
func (c *Client) makeDirectory(ctx context.Context, name, dir string) error {
	r := filesOf(http.MethodPost, name, dir)
	r.header = fileHeader(isDirectory, 0o755, 0, 0)
	err := c.repeat(ctx, r)
	if !errors.Is(err, ErrNotFound) || dir == "/" {
		return err
	}
	if err := c.makeDirectory(ctx, name, path.Dir(dir)); err != nil {
		return err
	}
	return c.repeat(ctx, r)
}

// write makes the file empty first: the daemon sets mode and owner of a new
// one, and only after its content.
func (c *Client) write(ctx context.Context, name, file string, data io.Reader, mode fs.FileMode, uid, gid int) error {
	r := filesOf(http.MethodPost, name, file)
	r.header = fileHeader(isFile, mode, uid, gid)
	if err := c.repeat(ctx, r); err != nil {
		return err
	}
	// Data is read once, so this is tried again only while none of it is.
	var in *input
	return c.again(ctx, func(ctx context.Context) error {
		in = newInput(data)
		defer in.Close()
		r.raw = in
		pushing := *c
		pushing.http = overSocket(c.socket, func(conn net.Conn) net.Conn { return hangsUp{conn, in} })
		_, err := pushing.send(ctx, r)
		if failed := in.failure(); failed != nil && ctx.Err() == nil {
			return &Error{Kind: fmt.Errorf("%w: %w", errInput, failed)}
		}
		return err
	}, func(err error) bool { return refusedForNow(err) && !in.begun() })
}

func fileHeader(kind string, mode fs.FileMode, uid, gid int) http.Header {
	return http.Header{
		"Content-Type":  {"application/octet-stream"}, // a form would be read as parameters
		"X-Incus-Type":  {kind},
		"X-Incus-Mode":  {fmt.Sprintf("%04o", mode.Perm())},
		"X-Incus-Uid":   {strconv.Itoa(uid)},
		"X-Incus-Gid":   {strconv.Itoa(gid)},
		"X-Incus-Write": {"overwrite"},
	}
}

// repeat sends a command that does no harm when it is done twice.
func (c *Client) repeat(ctx context.Context, r request) error {
	return c.again(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, c.quick)
		defer cancel()
		_, err := c.send(ctx, r)
		return err
	}, worthReading)
}

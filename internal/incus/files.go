package incus

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"time"
)

// filing is the deadline of writing or reading a file: the largest is this
// program's own binary.
const filing = 10 * time.Minute

// filesOf is a request for a file of an instance, running or stopped. The
// daemon looks at it from within the instance, so no link leads out of it.
func filesOf(method, name, file string) request {
	return request{method: method, path: at("instances", name, "files"), query: url.Values{"path": {file}}}
}

// What an entry can be, in the daemon's words.
const (
	isFile      = "file" // or a pipe, a socket, a device: those have no size
	isDirectory = "directory"
)

// entry is what is at a path; a link is not followed.
type entry struct {
	kind string
	size int64 // of a file, bytes
}

// entry looks at a path and opens nothing: the daemon's helper would wait for
// ever for the writer of a named pipe. A refusal comes without its reason.
func (c *Client) entry(ctx context.Context, name, file string) (entry, error) {
	resp, err := c.do(ctx, filesOf(http.MethodHead, name, file))
	if err != nil {
		return entry{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 400 {
		return entry{}, refused(resp.StatusCode, "")
	}
	e := entry{kind: resp.Header.Get("X-Incus-Type"), size: resp.ContentLength}
	if resp.StatusCode != http.StatusOK || e.kind == "" || e.kind == isFile && e.size < 0 {
		return entry{}, &Error{Kind: ErrAnswer, Code: resp.StatusCode, Text: "it does not say what is at the path"}
	}
	return e, nil
}

// missing is the error where nothing was found: the daemon answers a missing
// file like a missing instance.
func (c *Client) missing(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, c.quick)
	defer cancel()
	var in struct{}
	if _, err := c.getOnce(ctx, request{path: at("instances", name)}, &in); err != nil {
		return err
	}
	return fs.ErrNotExist
}

// reason asks again for a refusal that came without one.
func (c *Client) reason(ctx context.Context, name, file string, refusal *Error) error {
	_, err := c.send(ctx, filesOf(http.MethodGet, name, file))
	if told, ok := errors.AsType[*Error](err); ok && told.Text != "" && !errors.Is(told, ErrAnswer) {
		return told
	}
	refusal.Text = "it does not say why"
	return refusal
}

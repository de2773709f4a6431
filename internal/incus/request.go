package incus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// request is one call. The project is added when it is sent.
type request struct {
	method string
	path   string // escaped, see at
	query  url.Values
	body   any    // JSON; nil: none
	match  string // the ETag that the thing must still have
	header http.Header
	raw    io.Reader // a body that is not JSON
}

// at makes an escaped path of its segments.
func at(segments ...string) string {
	p := "/1.0"
	for _, s := range segments {
		p += "/" + url.PathEscape(s)
	}
	return p
}

func (r request) build(ctx context.Context, project string) (*http.Request, error) {
	body := r.raw
	if body == nil {
		var text []byte
		if r.body != nil {
			var err error
			if text, err = json.Marshal(r.body); err != nil {
				return nil, fmt.Errorf("encode the request: %w", err)
			}
		}
		body = bytes.NewReader(text)
	}
	query := url.Values{"project": {project}}
	for k, v := range r.query {
		query[k] = v
	}
	// The host is never looked up: the transport dials the socket.
	req, err := http.NewRequestWithContext(ctx, r.method, "http://incus"+r.path+"?"+query.Encode(), body)
	if err != nil {
		return nil, err
	}
	if r.header != nil {
		req.Header = r.header.Clone()
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.match != "" {
		req.Header.Set("If-Match", r.match)
	}
	return req, nil
}

// do sends r once; the answer's body is the caller's to close.
func (c *Client) do(ctx context.Context, r request) (*http.Response, error) {
	req, err := r.build(ctx, c.project)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unanswered(ctx, err)
	}
	return resp, nil
}

// send sends r once and judges the answer.
func (c *Client) send(ctx context.Context, r request) (a answer, err error) {
	resp, err := c.do(ctx, r)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	a, err = decode(resp.Body, resp.StatusCode)
	a.etag = resp.Header.Get("ETag")
	if _, judged := errors.AsType[*Error](err); err != nil && !judged {
		err = c.unanswered(ctx, err) // it broke off
	}
	return a, err
}

// unanswered says why there was no answer: a request that no daemon took is
// ErrUnreachable, one that may have been taken is a lostError.
func (c *Client) unanswered(ctx context.Context, err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // its text repeats the URL
	}
	if cause := ctx.Err(); cause != nil {
		err = cause
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return c.notReached(op.Err)
	}
	return &lostError{err: err}
}

// lostError: the request was sent and the answer did not come, or not whole.
type lostError struct{ err error }

func (l *lostError) Error() string { return "the Incus daemon did not answer: " + l.err.Error() }
func (l *lostError) Unwrap() error { return l.err }

func lost(err error) bool {
	_, is := errors.AsType[*lostError](err)
	return is
}

// get reads something into value: it is asked again while the daemon restarts.
func (c *Client) get(ctx context.Context, r request, value any) error {
	_, err := c.getTagged(ctx, r, value)
	return err
}

// getTagged also returns the ETag, which changes with the thing.
func (c *Client) getTagged(ctx context.Context, r request, value any) (etag string, err error) {
	err = c.again(ctx, func(ctx context.Context) error {
		etag, err = c.getOnce(ctx, r, value)
		return err
	}, worthReading)
	return etag, err
}

func (c *Client) getOnce(ctx context.Context, r request, value any) (etag string, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.quick)
	defer cancel()
	r.method = http.MethodGet
	a, err := c.send(ctx, r)
	if err != nil {
		return "", err
	}
	return a.etag, a.into(value)
}

// worthReading tells whether a read may work in a moment. A daemon that hangs
// is not asked again: that would only double the wait.
func worthReading(err error) bool {
	return refusedForNow(err) || lost(err) && !errors.Is(err, context.DeadlineExceeded)
}

// refusedForNow: nothing was done, and it may work in a moment.
func refusedForNow(err error) bool {
	return errors.Is(err, ErrUnreachable) || errors.Is(err, ErrShuttingDown)
}

// again calls try until it works, fails for good, or the daemon has been away
// for too long. worth tells which errors allow another try.
func (c *Client) again(ctx context.Context, try func(context.Context) error, worth func(error) bool) error {
	pause := 50 * time.Millisecond
	for until := time.Now().Add(c.patience); ; pause = min(2*pause, time.Second) {
		err := try(ctx)
		if err == nil || ctx.Err() != nil || !worth(err) || time.Now().After(until) {
			return err
		}
		if !sleep(ctx, pause) {
			return err
		}
	}
}

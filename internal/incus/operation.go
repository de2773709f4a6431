package incus

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"time"
)

// operation is what the daemon does in the background. It is forgotten five
// seconds after its end, and when the daemon restarts.
type operation struct {
	ID         string          `json:"id"`
	StatusCode int             `json:"status_code"` // 103 running, 200 success, 400 failure, 401 cancelled
	Err        string          `json:"err"`
	Metadata   json.RawMessage `json:"metadata"`
}

var operationPath = regexp.MustCompile(`^/1\.0/operations/[0-9A-Za-z-]{1,64}$`)

// errGone: the operation is not known any more, so its result is lost.
var errGone = errors.New("the daemon no longer knows the operation")

// look tells whether what a command was to do is done, and what is seen. It is
// asked when the answer was lost.
type look func(ctx context.Context) (done bool, seen string, err error)

// change sends a command and waits for its end. It is sent again only when the
// daemon did not take it. When its end is not heard of, look decides.
func (c *Client) change(ctx context.Context, r request, look look) error {
	var a answer
	err := c.again(ctx, func(ctx context.Context) (err error) {
		a, err = c.send(ctx, r)
		return err
	}, refusedForNow)
	if err == nil && a.Type == "async" {
		_, err = c.wait(ctx, a.Operation)
	}
	if !lost(err) && !errors.Is(err, ErrAnswer) { // rubbish does not tell either
		return err
	}
	return c.settle(ctx, err, look)
}

// settle turns a lost answer into what the thing itself shows. An end of ctx is
// returned at once: its owner does not want to wait.
func (c *Client) settle(ctx context.Context, cause error, look look) error {
	unknown := &Error{Kind: &unknownError{cause: cause}}
	if ctx.Err() != nil {
		return unknown
	}
	done, seen, err := look(ctx)
	switch {
	case err != nil:
		unknown.Text = clean("looking failed too: " + err.Error())
	case done:
		return nil
	default:
		unknown.Text = clean(seen)
	}
	return unknown
}

// unknownError is ErrUnknown and its cause in one.
type unknownError struct{ cause error }

func (u *unknownError) Error() string   { return ErrUnknown.Error() + ": " + u.cause.Error() }
func (u *unknownError) Unwrap() []error { return []error{ErrUnknown, u.cause} }

// wait returns when the operation has ended; an *Error when it failed. It goes
// on through a restart of the daemon and then finds the operation gone, which
// is a lostError like a daemon that stays away.
func (c *Client) wait(ctx context.Context, path string) (operation, error) {
	var op operation
	if !operationPath.MatchString(path) {
		return op, &Error{Kind: ErrAnswer, Text: clean("it names the operation " + path)}
	}
	pause, away := 50*time.Millisecond, time.Time{}
	for {
		var err error
		op, err = c.waitOnce(ctx, path)
		refusal, _ := errors.AsType[*Error](err)
		switch {
		case err == nil && op.StatusCode >= 400:
			return op, refused(op.StatusCode, op.Err)
		case err == nil && op.StatusCode >= 200:
			return op, nil
		case err == nil: // it goes on
			pause, away = 50*time.Millisecond, time.Time{}
		case refusal != nil && refusal.status == http.StatusOK:
			return op, err // the operation's own failure, whatever its code
		case errors.Is(err, ErrNotFound):
			return op, &lostError{err: errGone}
		case !refusedForNow(err) && !lost(err):
			return op, err
		case ctx.Err() != nil:
			return op, &lostError{err: ctx.Err()}
		case errors.Is(err, ErrShuttingDown): // for minutes, while it waits for what runs
			away = time.Time{}
		case away.IsZero():
			away = time.Now()
		case time.Since(away) > c.patience:
			return op, &lostError{err: err}
		}
		if !sleep(ctx, pause) {
			return op, &lostError{err: ctx.Err()}
		}
		pause = min(2*pause, time.Second)
	}
}

// waitOnce asks with no limit on the daemon's side: its limit reads like a
// failure of the operation.
func (c *Client) waitOnce(ctx context.Context, path string) (op operation, err error) {
	a, err := c.send(ctx, request{method: http.MethodGet, path: path + "/wait"})
	if err == nil {
		err = a.into(&op)
	}
	return op, err
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

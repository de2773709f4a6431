package incus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// attend feeds the command, keeps its output, and returns how it ended.
func (c *Client) attend(ctx context.Context, s *streams, path string, r ExecRequest) (ExecResult, error) {
	limit := r.MaxOutput
	if limit <= 0 {
		limit = defaultOutput
	}
	// Not ended by ctx: the sockets must live long enough to carry the kill.
	live, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()

	type ending struct {
		op  operation
		err error
	}
	ended := make(chan ending, 1)
	go func() {
		op, err := c.waitAttached(live, path)
		ended <- ending{op, err}
	}()
	outputs := make(chan bool, 2)
	stdout, stderr := &head{limit: limit}, &head{limit: limit}
	for stream, to := range map[*websocket.Conn]*head{s.stdout: stdout, s.stderr: stderr} {
		go func() {
			outputs <- drain(live, stream, to)
		}()
	}
	badInput := make(chan error, 1)
	go func() {
		if err := feed(live, s.stdin, r.Stdin); err != nil {
			badInput <- err
		}
	}()
	// Pings and the daemon's close are only seen by a reader.
	s.control.CloseRead(live)

	var end ending
	var stopped error
	select {
	case end = <-ended:
	case <-ctx.Done():
		stopped = ctx.Err()
	case err := <-badInput:
		// The command must not take half an input for all of it.
		stopped = fmt.Errorf("read the input, the command was killed: %w", err)
	}
	if stopped != nil {
		if err := s.kill(live); err == nil {
			within(execKill, ended)
		}
		return ExecResult{}, stopped
	}
	if lost(end.err) {
		return ExecResult{}, &Error{Kind: &unknownError{cause: end.err}}
	}
	code, err := c.exitCode(live, path, end.op, end.err)
	whole := within(execDrain, outputs)
	whole = within(execDrain, outputs) && whole
	release() // a stream that is still open is left
	if err == nil && !whole {
		err = &Error{Kind: ErrAnswer, Text: fmt.Sprintf("the command ended with code %d, and its output broke off", code)}
	}
	res := ExecResult{Code: code, Stdout: stdout.bytes(), Stderr: stderr.bytes()}
	res.Cut = stdout.wasCut() || stderr.wasCut()
	return res, err
}

// waitAttached waits for a command's end. A daemon that is lost took the
// command's end with it, so that is no reason to wait for another one.
func (c *Client) waitAttached(ctx context.Context, path string) (operation, error) {
	once := *c
	once.patience = 0
	return once.wait(ctx, path)
}

// within returns what comes on ready in that time, or nothing.
func within[T any](d time.Duration, ready <-chan T) (got T) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case got = <-ready:
	case <-timer.C:
	}
	return got
}

// drain reads a stream to its end, an empty text message, so that the command
// is never blocked by output that nobody takes. False when there is no mark.
func drain(ctx context.Context, stream *websocket.Conn, to io.Writer) bool {
	for {
		kind, message, err := stream.Reader(ctx)
		if err != nil {
			return false
		}
		n, err := io.Copy(to, message)
		if err != nil {
			return false
		}
		if kind == websocket.MessageText && n == 0 {
			return true
		}
	}
}

// feed sends the input and its end, an empty text message. An error is the
// input's own: a command that does not take its input is its own affair.
func feed(ctx context.Context, stream *websocket.Conn, input io.Reader) error {
	if input == nil {
		input = http.NoBody
	}
	buffer := make([]byte, 32<<10)
	for taken := true; taken; {
		n, err := input.Read(buffer)
		if n > 0 {
			taken = stream.Write(ctx, websocket.MessageBinary, buffer[:n]) == nil
		}
		switch {
		case errors.Is(err, io.EOF):
			_ = stream.Write(ctx, websocket.MessageText, nil) // as above
			return nil
		case err != nil && taken:
			return err
		}
	}
	return nil
}

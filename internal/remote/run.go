package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/crypto/ssh"
)

// endGrace is how long a killed command's session may take to close.
const endGrace = 500 * time.Millisecond

// Run runs a program and waits for its end. The code is its exit code; it is
// -1 with an error: a *SignalError, a *StartError, one that is ErrLost, or the
// end of ctx. At that end the program gets SIGKILL where sshd passes signals
// on, and its pipes are closed; one that ignores its pipes may live on (a held
// process is the cure), as does one whose connection was lost.
//
// After Run nothing is written to Stdout and Stderr. Stdin may see one more
// Read if it blocks longer than the program runs.
func (h *Host) Run(ctx context.Context, cmd Cmd) (code int, err error) {
	mark := newMark()
	line, err := cmd.line(mark)
	if err != nil {
		return -1, fmt.Errorf("%s: %w", h.settings.name(), err)
	}
	session, conn, release, err := h.open(ctx)
	if err != nil {
		return -1, err
	}
	defer release()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := func() { cancel(errOutput) }
	stdout, stderr := newAfterMark(mark, cmd.Stdout, stop), newAfterMark(mark, cmd.Stderr, stop)
	defer stdout.close()
	defer stderr.close()
	defer session.Close()
	done := make(chan error, 1)
	go func() { done <- start(session, line, cmd.Stdin, stdout, stderr) }()
	select {
	case err = <-done:
	case <-conn.lost:
		err = &ssh.ExitMissingError{}
		select { // the end may have come in the same moment
		case err = <-done:
		case <-time.After(100 * time.Millisecond):
		}
	case <-ctx.Done():
		_ = session.Signal(ssh.SIGKILL)
		session.Close()
		select {
		case <-done: //nolint:errcheck // how it ended no longer matters
		case <-conn.lost:
		case <-time.After(endGrace):
		}
		return -1, h.cut(ctx, cmd, stdout, stderr)
	}
	return h.verdict(cmd, conn, err, stdout, stderr)
}

// errOutput is the end of a command because its output could not be written.
var errOutput = errors.New("its output cannot be taken")

// start gives the command to sshd and waits for its end.
func start(session *ssh.Session, line string, stdin io.Reader, stdout, stderr io.Writer) error {
	session.Stdout, session.Stderr = stdout, stderr
	in, err := session.StdinPipe()
	if err != nil {
		return err
	}
	if err := session.Start(line); err != nil {
		return err
	}
	// Not session.Stdin: Wait would wait for a reader that blocks for ever.
	go func() {
		if stdin != nil {
			_, _ = io.Copy(in, stdin) // a program need not read all
		}
		in.Close()
	}()
	return session.Wait()
}

// cut is the error of a command that was not waited for any longer.
func (h *Host) cut(ctx context.Context, cmd Cmd, outputs ...*afterMark) error {
	for _, output := range outputs {
		if _, _, err := output.state(); err != nil {
			return fmt.Errorf("%s: %s: %w: %w", h.settings.name(), cmd, errOutput, err)
		}
	}
	return fmt.Errorf("%s: %s: %w", h.settings.name(), cmd, context.Cause(ctx))
}

// verdict tells the ends of a command apart.
func (h *Host) verdict(cmd Cmd, conn *connection, err error, stdout, stderr *afterMark) (int, error) {
	for _, output := range []*afterMark{stdout, stderr} {
		if _, _, err := output.state(); err != nil {
			return -1, fmt.Errorf("%s: %s: %w: %w", h.settings.name(), cmd, errOutput, err)
		}
	}
	code := 0
	var exit *ssh.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit) && exit.Signal() != "":
		return -1, &SignalError{Command: h.settings.name() + ": " + cmd.String(), Signal: exit.Signal()}
	case errors.As(err, &exit):
		code = exit.ExitStatus()
	default:
		reason := err
		if !conn.alive() {
			reason = conn.reason
		}
		return -1, fmt.Errorf("%s: %s: %w, and how it ended is not known: %w", h.settings.name(), cmd, ErrLost, reason)
	}
	if begun, noise, _ := stdout.state(); !begun {
		_, said, _ := stderr.state()
		return -1, &StartError{Host: h.settings.name(), Command: cmd.String(), Sudo: cmd.Sudo && code != codeDir, Code: code, Said: ending(said+" "+noise, 300)}
	}
	return code, nil
}

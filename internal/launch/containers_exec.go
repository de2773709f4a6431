package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Exec runs a command in the instance's container, as a process group of its
// own, with the instance's environment and cmd.Env over it.
func (c *Containers) Exec(ctx context.Context, in Instance, cmd Cmd) (ExecResult, error) {
	res, err := c.exec(ctx, in, cmd)
	if err != nil {
		word := ""
		if len(cmd.Argv) > 0 {
			word = cmd.Argv[0]
		}
		return ExecResult{}, fmt.Errorf("exec %s in %s: %w", word, in.Name, err)
	}
	return res, nil
}

func (c *Containers) exec(ctx context.Context, in Instance, cmd Cmd) (ExecResult, error) {
	if len(cmd.Argv) == 0 {
		return ExecResult{}, errors.New("there is no command")
	}
	m, err := c.readMarker(in.Name)
	if err != nil || m.Bin == "" {
		return ExecResult{}, fmt.Errorf("the instance %w", ErrGone)
	}
	if cmd.Dir == "" {
		cmd.Dir = m.Dir
	}
	call := insideCall{Verb: "exec", Argv: cmd.Argv, Env: append(append([]string{}, m.Env...), cmd.Env...), Dir: cmd.Dir, Again: cmd.Again}
	answer, err := c.inside(ctx, m.Container, home{bin: m.Bin}, call, cmd.Stdin)
	if err != nil {
		return ExecResult{}, err
	}
	return ExecResult{Code: answer.Code, Stdout: answer.stdout, Stderr: answer.stderr}, nil
}

// inside calls `sweep inside` in a container. A call that may be done again is
// repeated until ctx ends when the daemon goes away under it.
func (c *Containers) inside(ctx context.Context, name string, h home, call insideCall, stdin io.Reader) (answer insideAnswer, err error) {
	if !call.Again || stdin != nil && !rewindable(stdin) {
		call.Again = false
		return c.insideOnce(ctx, name, h, call, stdin)
	}
	err = again(ctx, func() error {
		if stdin != nil {
			if _, err := stdin.(io.Seeker).Seek(0, io.SeekStart); err != nil {
				return err
			}
		}
		answer, err = c.insideOnce(ctx, name, h, call, stdin)
		return err
	})
	return answer, err
}

func rewindable(r io.Reader) bool {
	_, ok := r.(io.Seeker)
	return ok
}

// hangTime is how long the program inside has to end what it runs after it was
// told that nobody waits any more.
const hangTime = 3 * time.Second

func (c *Containers) insideOnce(ctx context.Context, name string, h home, call insideCall, stdin io.Reader) (insideAnswer, error) {
	// The run outlives ctx by a moment: the program inside is told first, so
	// that it ends its own children; killed at once it would leave them.
	runCtx, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	toldR, told := io.Pipe()
	defer told.Close()
	stop := context.AfterFunc(ctx, func() {
		told.CloseWithError(io.EOF)
		time.AfterFunc(hangTime, kill)
	})
	defer stop()
	sent := make(chan error, 1)
	go func() { sent <- sendCall(told, call, stdin) }()

	answers := newAnswerReader()
	var trouble tail
	code, err := c.engine.run(runCtx, name, []string{h.bin, "inside", "call"}, toldR, answers, &trouble)
	toldR.Close()
	var inputErr error
	if call.Again {
		inputErr = <-sent // the input may be read again at once
	} else {
		select {
		case inputErr = <-sent:
		default: // one that nobody read to its end may block for ever
		}
	}
	if inputErr != nil {
		return insideAnswer{}, inputErr
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return insideAnswer{}, fmt.Errorf("%s gave no answer for the container %s in time: %w", c.engine.kind(), name, ctx.Err())
	}
	if ctx.Err() != nil {
		return insideAnswer{}, ctx.Err()
	}
	if errors.Is(err, ErrFrozen) {
		return insideAnswer{}, fmt.Errorf("%w: let it go on%s", err, c.engine.hint(thaw, name))
	}
	if err != nil {
		return insideAnswer{}, err
	}
	answer, whole := answers.answer()
	if !whole {
		return insideAnswer{}, c.unanswered(ctx, name, h, code, oneLine(trouble.bytes()))
	}
	return answer, answer.err()
}

// unanswered is the error of a call that ended without its answer. The exit
// code alone proves nothing: container tools lose codes, and make some up.
func (c *Containers) unanswered(ctx context.Context, name string, h home, code int, said string) error {
	found, err := c.engine.look(ctx, name)
	switch {
	case errors.Is(err, ErrGone) || err == nil && !found.running:
		return fmt.Errorf("the container %s %w", name, ErrGone)
	case err == nil && found.frozen:
		return fmt.Errorf("the container %s %w: let it go on%s", name, ErrFrozen, c.engine.hint(thaw, name))
	case code == 126 || code == 127:
		c.forget(name)
		return fmt.Errorf("%w: %s in the container %s: %s", errNoBinary, h.bin, name, said)
	}
	return fmt.Errorf("%w: %s in %s ended (code %d) before it answered: %s", errDaemonAway, h.bin, name, code, said)
}

// againPause is how often a daemon that went away is tried.
const againPause = 200 * time.Millisecond

// again repeats what failed because the daemon went away, until ctx ends. The
// error is then the daemon's: it tells more than a deadline.
func again(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil || !errors.Is(err, errDaemonAway) {
			return err
		}
		if !pauseFor(ctx, againPause) {
			return fmt.Errorf("%w, and did not come back: %w", err, ctx.Err())
		}
	}
}

// pauseFor waits; false when ctx ended first.
func pauseFor(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

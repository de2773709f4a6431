package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// tool runs a container tool's command line program. It gets an environment of
// its own: some tools pass the caller's on into the container.
type tool struct {
	program string   // found in PATH, or absolute
	args    []string // before all others
	env     []string // NAME=value beside PATH, HOME and a plain language
}

// run runs the tool with streams and returns its exit code. When ctx ends, the
// tool is killed.
func (t tool) run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	c := exec.CommandContext(ctx, t.program, append(append([]string{}, t.args...), args...)...)
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LC_ALL=C"}, t.env...)
	c.Stdout, c.Stderr = stdout, stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is for sweep, which then ends things in order
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = execDrain
	if err := startWithInput(c, stdin); err != nil {
		return -1, fmt.Errorf("run %s: %w", t.program, err)
	}
	err := c.Wait()
	exit := (*exec.ExitError)(nil)
	switch {
	case ctx.Err() != nil:
		return -1, ctx.Err()
	case errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay):
		return c.ProcessState.ExitCode(), nil
	case err != nil:
		return -1, fmt.Errorf("run %s: %w", t.program, err)
	}
	return 0, nil
}

// toolTime bounds a call that only looks.
const toolTime = 30 * time.Second

// ask runs the tool for its output. A tool that failed is an error that says
// what it said; its code is returned too.
func (t tool) ask(ctx context.Context, args ...string) (out []byte, code int, err error) {
	var stdout, stderr bounded
	code, err = t.run(ctx, args, nil, &stdout, &stderr)
	if err == nil && code != 0 {
		said := oneLine(bytes.Join([][]byte{stderr.bytes(), stdout.bytes()}, []byte(" ")))
		err = fmt.Errorf("`%s %s` ended with exit status %d: %s", t.program, args[0], code, said)
	}
	return stdout.bytes(), code, err
}

// quick is ask with the bound of a look.
func (t tool) quick(ctx context.Context, args ...string) ([]byte, int, error) {
	ctx, cancel := context.WithTimeout(ctx, toolTime)
	defer cancel()
	return t.ask(ctx, args...)
}

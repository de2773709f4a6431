package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"sweep/internal/sglang"
)

// Local runs short commands on this host.
type Local struct{}

// Run implements gpu.Commander. A command that failed and printed nothing to
// standard output returns what it printed to standard error: that says why.
func (Local) Run(ctx context.Context, argv ...string) ([]byte, int, error) {
	return answer(exec.CommandContext(ctx, argv[0], argv[1:]...))
}

func answer(cmd *exec.Cmd) ([]byte, int, error) {
	out, trouble, code, err := finish(cmd)
	if code > 0 && len(bytes.TrimSpace(out)) == 0 {
		out = trouble
	}
	return out, code, err
}

// maxOutput bounds what is kept of a command's output, in bytes.
const maxOutput = 4 << 20

// finish runs a command to its end; when its context ends, it goes with all
// that it started.
func finish(cmd *exec.Cmd) (stdout, stderr []byte, code int, err error) {
	var out, trouble kept
	cmd.Stdout, cmd.Stderr = &out, &trouble
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is for sweep, which then ends things in order
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		return out, trouble, exit.ExitCode(), nil
	}
	if err != nil {
		return out, trouble, -1, fmt.Errorf("run %s: %w", cmd.Args[0], err)
	}
	return out, trouble, 0, nil
}

// kept is the beginning of an output.
type kept []byte

func (k *kept) Write(p []byte) (int, error) {
	*k = append(*k, p[:min(len(p), maxOutput-len(*k))]...)
	return len(p), nil
}

// lastLine is the last line that says something: Python's errors end with it.
func lastLine(text string) string {
	lines := bytes.Split(bytes.TrimSpace([]byte(text)), []byte("\n"))
	return clip(string(lines[len(lines)-1]))
}

// clip makes foreign text fit for one line.
func clip(text string) string {
	const most = 300
	text = sglang.Plain(text)
	if len(text) > most {
		text = sglang.Plain(text[:most]) + "…"
	}
	return text
}

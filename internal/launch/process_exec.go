package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"sweep/internal/supervise"
)

// execDrain is how long Exec waits for output after its command has ended: a
// child in the background may hold the pipes for ever.
const execDrain = time.Second

// Exec runs a command as a process group of its own. One that a signal ended
// has code 128 plus the signal, as shells count; one that cannot be started is
// an error. It has the environment of this sweep, and cmd.Env over it.
func (p *Process) Exec(ctx context.Context, in Instance, cmd Cmd) (ExecResult, error) {
	if len(cmd.Argv) == 0 {
		return ExecResult{}, fmt.Errorf("exec in %s: there is no command", in.Name)
	}
	own, err := p.read(ctx, in.Name)
	if err != nil {
		return ExecResult{}, fmt.Errorf("exec %s in %s: %w", cmd.Argv[0], in.Name, err)
	}
	if cmd.Dir == "" {
		cmd.Dir = own.Dir
	}
	res, err := execHere(ctx, cmd, append(os.Environ(), cmd.Env...), &syscall.SysProcAttr{Setpgid: true})
	if err != nil {
		return res, fmt.Errorf("exec %s in %s: %w", cmd.Argv[0], in.Name, err)
	}
	return res, nil
}

// execHere runs a command with a whole environment; attr must make it a process
// group of its own.
func execHere(ctx context.Context, cmd Cmd, env []string, attr *syscall.SysProcAttr) (ExecResult, error) {
	var stdout, stderr bounded
	var c *exec.Cmd
	for try := 0; ; try++ {
		c = exec.CommandContext(ctx, cmd.Argv[0], cmd.Argv[1:]...)
		c.Dir, c.Env = cmd.Dir, env
		if path, err := supervise.Program(cmd.Argv[0], c.Env); err == nil { // as a held process finds it
			c.Path, c.Err = path, nil
		}
		c.Stdout, c.Stderr = &stdout, &stderr
		c.SysProcAttr = attr
		c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
		c.WaitDelay = execDrain
		err := startWithInput(c, cmd.Stdin)
		if err == nil {
			break
		}
		// A program written a moment ago is busy while a process forked at the
		// same moment elsewhere in this one still has it open for writing.
		if !errors.Is(err, syscall.ETXTBSY) || try == 10 || ctx.Err() != nil {
			return ExecResult{}, errors.Join(ctx.Err(), err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	err := c.Wait()
	if err != nil && ctx.Err() != nil {
		return ExecResult{}, ctx.Err()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return ExecResult{}, err
	}
	code := c.ProcessState.ExitCode()
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int(status.Signal())
	}
	return ExecResult{Code: code, Stdout: stdout.bytes(), Stderr: stderr.bytes()}, nil
}

// startWithInput copies the input beside Wait, not within it: Wait would not
// return while a reader blocks. The pipe is closed when the command ends.
func startWithInput(c *exec.Cmd, input io.Reader) error {
	if input == nil {
		return c.Start()
	}
	pipe, err := c.StdinPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(pipe, input) // a command need not read all of its input
		pipe.Close()
	}()
	return nil
}

// bounded keeps the first MaxExecOutput bytes and drops the rest, so that the
// command is never blocked by a full pipe.
type bounded struct {
	mu   sync.Mutex
	kept []byte
}

func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept = append(b.kept, p[:min(len(p), MaxExecOutput-len(b.kept))]...)
	return len(p), nil
}

func (b *bounded) bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept
}

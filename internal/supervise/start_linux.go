package supervise

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// startTime is how long a start may take before it is an error.
const startTime = 10 * time.Second

// report is what the supervisor tells its starter, once.
type report struct {
	Error string `json:"error,omitempty"` // why there is nothing supervised; empty: look at the directory
}

// Start holds spec in dir and returns when the command runs, or when it is
// known that it cannot run (then the state has an exit with an error, and
// Start none). A directory holds one ID: starting it again, at once or later,
// by one or by several, returns the state of the first start; another ID is an
// error. A start that was killed before anything ran can be done again.
//
// Start takes at most ten seconds. After an error of ctx a supervisor may be on
// its way: Look, or Start again.
func Start(ctx context.Context, dir string, spec Spec) (State, error) {
	if err := spec.validate(); err != nil {
		return State{}, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return State{}, fmt.Errorf("hold %s: %w", spec.ID, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return State{}, fmt.Errorf("hold %s: %w", spec.ID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		s, done, err := startOnce(ctx, dir, spec)
		if err != nil {
			return s, fmt.Errorf("hold %s in %s: %w", spec.ID, dir, err)
		}
		if done {
			return s, nil
		}
		select {
		case <-ctx.Done():
			return s, fmt.Errorf("hold %s in %s: another start is under way: %w", spec.ID, dir, ctx.Err())
		case <-time.After(endingPoll):
		}
	}
}

// startOnce is not done while somebody else's start is under way.
func startOnce(ctx context.Context, dir string, spec Spec) (State, bool, error) {
	held, err := lock(dir) // before looking: what is absent under the lock stays absent
	if err != nil {
		return State{}, false, err
	}
	if held != nil {
		defer held.Close()
	}
	v, err := thisMachine().look(dir)
	switch {
	case err != nil:
		return State{}, false, err
	case v.spec.ID != "" && v.spec.ID != spec.ID:
		return v.state(), false, fmt.Errorf("this directory already holds %q", v.spec.ID)
	case v.settled():
		return v.state(), true, nil
	case held == nil || v.record != nil:
		return v.state(), false, nil
	}
	if err := save(dir, specFile, spec); err != nil {
		return State{}, false, err
	}
	if err := launch(ctx, dir, spec.Secrets, held); err != nil {
		return State{}, false, err
	}
	s, err := Look(dir)
	return s, true, err
}

// launch starts the supervisor and waits for its report.
func launch(ctx context.Context, dir string, secrets []string, held *os.File) error {
	output, err := os.OpenFile(filepath.Join(dir, OutputFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the output file: %w", err)
	}
	defer output.Close()
	statusR, statusW, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("open a pipe: %w", err)
	}
	defer statusR.Close()
	defer statusW.Close()
	secretsR, secretsW, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("open a pipe: %w", err)
	}
	defer secretsR.Close()
	defer secretsW.Close()

	cmd := exec.Command(ownBinary(), "supervise", "run", dir) //nolint:noctx // it must outlive ctx
	cmd.Stdin, cmd.Stdout, cmd.Stderr = secretsR, output, output
	cmd.ExtraFiles = []*os.File{statusW, held} // statusFD and lockFD
	cmd.Dir = "/"
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	if err := keepInherited(); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the supervisor: %w", err)
	}
	// Reaps it where the starter lives longer; a starter that ends leaves it to init.
	go func() { _ = cmd.Wait() }()
	statusW.Close()
	secretsR.Close()

	if at, ok := ctx.Deadline(); ok {
		_, _ = statusR.SetReadDeadline(at), secretsW.SetWriteDeadline(at)
	}
	stop := context.AfterFunc(ctx, func() {
		_, _ = statusR.SetReadDeadline(time.Now()), secretsW.SetWriteDeadline(time.Now())
	})
	defer stop()
	// Its document complete, the supervisor goes on; a starter killed before
	// that leaves a supervisor that starts nothing.
	if err := json.NewEncoder(secretsW).Encode(StartRequest{Secrets: secrets}); err != nil && !errors.Is(err, unix.EPIPE) {
		return fmt.Errorf("pass secrets to the supervisor: %w", errors.Join(err, ctx.Err()))
	}
	secretsW.Close()
	text, err := io.ReadAll(io.LimitReader(statusR, 64<<10))
	if err != nil {
		return fmt.Errorf("wait for the supervisor, which may still start it: %w", errors.Join(err, ctx.Err()))
	}
	var said report
	if err := json.Unmarshal(text, &said); err != nil {
		return fmt.Errorf("the supervisor ended before it reported; %s has its last words", output.Name())
	}
	if said.Error != "" {
		return errors.New(said.Error)
	}
	return nil
}

// keepInherited marks descriptors that this process itself inherited, a pipe of
// some shell above us say, so that they go no further: whoever waits for the
// other end must not wait for a held server. Go's own are marked already.
func keepInherited() error {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("list inherited descriptors: %w", err)
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd) // may be closed meanwhile
		}
	}
	return nil
}

// ownBinary is this program, also when its file was removed meanwhile, as `go
// run` does.
func ownBinary() string {
	if path, err := os.Executable(); err == nil {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return "/proc/self/exe"
}

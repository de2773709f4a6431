package launch

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// runInside runs a command that is killed when this process is: the container
// tools kill what they started, and nothing below it. The kernel looks at the
// thread that forked, so that this one is kept.
func runInside(ctx context.Context, cmd Cmd, env []string) (ExecResult, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return execHere(ctx, cmd, env, &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL})
}

// idle is the first process of a container: it reaps what is left to it until
// it is told to end.
func idle(ctx context.Context) error {
	children := make(chan os.Signal, 16)
	signal.Notify(children, syscall.SIGCHLD)
	for {
		for {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if pid <= 0 || err != nil {
				break
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-children:
		}
	}
}

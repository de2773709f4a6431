//go:build !linux

package launch

import (
	"context"
	"syscall"
)

func runInside(ctx context.Context, cmd Cmd, env []string) (ExecResult, error) {
	return execHere(ctx, cmd, env, &syscall.SysProcAttr{Setpgid: true})
}

func idle(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

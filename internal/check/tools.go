package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"sweep/internal/incus"
)

// Tools say by what the containers of a host are asked about: the same that its
// runtime makes them by. Only what belongs to the plan's runtime is used.
type Tools struct {
	Docker       string   // docker or podman, in PATH or with its path
	DockerEnv    []string // NAME=value for it: DOCKER_HOST
	IncusSocket  string   // of the daemon
	IncusProject string   // "": the default one
	LXCPath      string   // where LXC has its containers; "": LXC's own
}

func (t Tools) incus() *incus.Client { return incus.New(t.IncusSocket, t.IncusProject) }

// docker runs the tool in the environment that its runtime gives it: with a
// person's variables it may look at other containers.
func (t Tools) docker(ctx context.Context, args ...string) ([]byte, int, error) {
	if t.Docker == "" {
		return nil, -1, errors.New("neither docker nor podman was found")
	}
	cmd := exec.CommandContext(ctx, t.Docker, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LC_ALL=C"}, t.DockerEnv...)
	return answer(cmd)
}

// lxcPath is where LXC has its containers.
func (t Tools) lxcPath(ctx context.Context) (string, error) {
	if t.LXCPath != "" {
		return t.LXCPath, nil
	}
	out, code, err := (Local{}).Run(ctx, "lxc-config", "lxc.lxcpath")
	if err == nil && code != 0 {
		err = fmt.Errorf("lxc-config: exit %d: %s", code, lastLine(string(out)))
	}
	return strings.TrimSpace(string(out)), err
}

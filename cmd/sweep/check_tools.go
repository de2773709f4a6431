package main

import (
	"context"
	"os"

	"sweep/internal/check"
	"sweep/internal/incus"
	"sweep/internal/sweep"
)

// toolsOf says by what the containers of a kind are asked about on this host:
// by what runtimeFor makes them with. Where there is nothing, runtimeFor says
// so.
func toolsOf(ctx context.Context, kind string) check.Tools {
	var tools check.Tools
	switch kind {
	case sweep.RuntimeIncus:
		tools.IncusSocket, _ = incus.Find()
		tools.IncusProject = os.Getenv("INCUS_PROJECT")
	case sweep.RuntimeLXC, sweep.RuntimePct:
		tools.LXCPath = os.Getenv(lxcPathVariable)
	case sweep.RuntimeDocker:
		tools.Docker, _ = dockerProgram(ctx)
		tools.DockerEnv = dockerVariables()
	}
	return tools
}

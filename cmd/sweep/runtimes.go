package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"sweep/internal/incus"
	"sweep/internal/launch"
	"sweep/internal/runner"
	"sweep/internal/sweep"
)

// lxcPathVariable says where LXC has its containers, on hosts where that is
// not what its own configuration says.
const lxcPathVariable = "SWEEP_LXC_PATH"

// runtimeFor makes the runtime of a kind on this host. agent is a static sweep
// for containers; "" finds one.
func runtimeFor(ctx context.Context, kind, agent string) (launch.Runtime, error) {
	if kind = cmp.Or(kind, sweep.RuntimeProcess); kind == sweep.RuntimeProcess {
		return launch.NewProcess(stateDir(), cacheDir()), nil
	}
	goos, goarch := thisPlatform()
	file, err := agentFor(ctx, agent, goos, goarch)
	if err != nil {
		return nil, err
	}
	return containersOf(ctx, kind, launch.ContainerOptions{StateDir: stateDir(), CacheDir: cacheDir(), Agent: file})
}

// containersOf finds the container tool of a kind on this host.
func containersOf(ctx context.Context, kind string, o launch.ContainerOptions) (launch.Runtime, error) {
	lacks := func(program, remedy string) error {
		return fmt.Errorf("%w: the runtime %s needs %s on this host, and it is not in PATH: %s", runner.ErrHost, kind, program, remedy)
	}
	switch kind {
	case sweep.RuntimeIncus:
		socket, err := incus.Find()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", runner.ErrHost, err)
		}
		return launch.NewIncus(socket, os.Getenv("INCUS_PROJECT"), o), nil
	case sweep.RuntimeLXC:
		if _, err := exec.LookPath("lxc-attach"); err != nil {
			return nil, lacks("lxc-attach", "install LXC, or name another runtime")
		}
		return launch.NewLXC(os.Getenv(lxcPathVariable), o), nil
	case sweep.RuntimePct:
		for _, program := range []string{"pct", "lxc-attach"} {
			if _, err := exec.LookPath(program); err != nil {
				return nil, lacks(program, "is this a Proxmox VE host?")
			}
		}
		return launch.NewPct(launch.PctOptions{LXCPath: os.Getenv(lxcPathVariable)}, o), nil
	case sweep.RuntimeDocker:
		program, err := dockerProgram(ctx)
		if err != nil {
			return nil, lacks("docker or podman", "install one, or name another runtime")
		}
		return launch.NewDocker(launch.DockerOptions{Program: program, Env: dockerVariables()}, o), nil
	}
	return nil, usage("there is no runtime %s", printable(kind))
}

// dockerProgram is Docker where its daemon answers, else Podman where that is
// installed, else Docker, whose own words then say what is wrong.
func dockerProgram(ctx context.Context) (string, error) {
	docker, dockerErr := exec.LookPath("docker")
	podman, podmanErr := exec.LookPath("podman")
	switch {
	case dockerErr != nil && podmanErr != nil:
		return "", errors.Join(dockerErr, podmanErr)
	case dockerErr != nil || podmanErr != nil:
		return cmp.Or(docker, podman), nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if exec.CommandContext(ctx, docker, "version", "--format", "{{.Server.Version}}").Run() == nil {
		return docker, nil
	}
	return podman, nil
}

// dockerVariables are those that say which daemon is meant.
func dockerVariables() []string {
	var env []string
	for _, name := range []string{"DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "CONTAINER_HOST", "XDG_RUNTIME_DIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// presentRuntimes are those that this host has, for looking after what dead
// sweeps left in any of them. A tool that is not there, or whose daemon does
// not run, is an error only where a sweep has used it.
func presentRuntimes(ctx context.Context, agent string) (map[string]launch.Runtime, error) {
	all := map[string]launch.Runtime{sweep.RuntimeProcess: launch.NewProcess(stateDir(), cacheDir())}
	var failed []error
	for _, kind := range []string{sweep.RuntimeIncus, sweep.RuntimeLXC, sweep.RuntimePct, sweep.RuntimeDocker} {
		rt, err := containersOf(ctx, kind, launch.ContainerOptions{StateDir: stateDir(), CacheDir: cacheDir(), Agent: agent})
		used := launch.Used(stateDir(), kind)
		if err == nil && kind == sweep.RuntimeIncus {
			used = true // its containers carry our labels, also where the markers were lost
		}
		if err == nil && (!used || kind == sweep.RuntimeIncus) {
			look, cancel := context.WithTimeout(ctx, 5*time.Second)
			_, err = rt.List(look)
			cancel()
		}
		switch {
		case err == nil:
			all[kind] = rt
		case used:
			failed = append(failed, fmt.Errorf("what sweeps left in the runtime %s is not known: %w", kind, err))
		}
	}
	return all, errors.Join(failed...)
}

// otherRuntimes are the present ones but for one kind. What cannot be looked
// into is left out: the GPUs tell whether it matters.
func otherRuntimes(ctx context.Context, kind string) []launch.Runtime {
	var others []launch.Runtime
	all, _ := presentRuntimes(ctx, "")
	for k, rt := range all {
		if k != cmp.Or(kind, sweep.RuntimeProcess) {
			others = append(others, rt)
		}
	}
	return others
}

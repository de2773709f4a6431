package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"sweep/internal/launch"
)

// agentFlag names the sweep that is put into containers and onto other hosts.
func agentFlag() cli.Flag {
	return &cli.StringFlag{Name: "agent", EnvVars: []string{"SWEEP_AGENT"}, Usage: "a static sweep `FILE` for containers and other hosts",
		DefaultText: "this very sweep, or one built from its source"}
}

// agentFor finds a static sweep for a platform: the one that was named, this
// very one, or one that the Go on this machine builds.
func agentFor(ctx context.Context, named, goos, goarch string) (string, error) {
	if named != "" {
		if err := launch.CheckProgram(named, goos, goarch); err != nil {
			return "", usage("--agent: %w", err)
		}
		return named, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this sweep: %w", err)
	}
	mine := launch.CheckProgram(self, goos, goarch)
	if mine == nil {
		return self, nil
	}
	built, err := buildAgent(ctx, goos, goarch)
	if err != nil {
		return "", usage("a static sweep for %s/%s is needed: %w; and none could be built here: %w.\n"+
			"Take sweep_%s_%s from the release, or build it in sweep's source directory with\n"+
			"`CGO_ENABLED=0 GOOS=%s GOARCH=%s go build -o sweep_%s_%s ./cmd/sweep`, and name it with --agent FILE",
			goos, goarch, mine, err, goos, goarch, goos, goarch, goos, goarch)
	}
	return built, nil
}

// buildTime bounds a build, with nothing compiled before.
const buildTime = 10 * time.Minute

// buildAgent builds a static sweep from the source that the working directory
// is in, for a sweep that `go run` or `go build` made there. The Go tool keeps
// what it compiled, so that it is quick the second time.
func buildAgent(ctx context.Context, goos, goarch string) (string, error) {
	root, err := sourceRoot()
	if err != nil {
		return "", err
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		return "", errors.New("there is no Go on this machine")
	}
	file := filepath.Join(cacheDir(), "agent", "sweep_"+goos+"_"+goarch)
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	build := exec.CommandContext(ctx, tool, "build", "-trimpath", "-o", file, "./cmd/sweep")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, printable(lastWords(out)))
	}
	return file, nil
}

// sourceRoot is the directory of sweep's own module that we are in.
func sourceRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if text, readErr := os.ReadFile(filepath.Join(dir, "go.mod")); readErr == nil && strings.HasPrefix(string(text), "module sweep\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return "", errors.New("this is not in sweep's source directory")
}

func lastWords(out []byte) string {
	text := strings.TrimSpace(string(out))
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	return text
}

// thisPlatform is what containers of this host run.
func thisPlatform() (goos, goarch string) { return runtime.GOOS, runtime.GOARCH }

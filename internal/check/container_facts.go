package check

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sweep/internal/incus"
	"sweep/internal/sweep"
)

// containerFacts asks the container tool what a container is. What changes
// from start to start is left out: addresses, process states, our own labels.
func containerFacts(ctx context.Context, c sweep.Container, name string) (*sweep.ContainerFacts, error) {
	ctx, cancel := context.WithTimeout(ctx, toolTime)
	defer cancel()
	switch c.Runtime {
	case sweep.RuntimeIncus:
		return incusFacts(ctx, name)
	case sweep.RuntimeDocker:
		return dockerFacts(ctx, name)
	case sweep.RuntimeLXC, sweep.RuntimePct:
		if c.Fresh() {
			return nil, errors.New("a fresh one is made from the plan alone")
		}
		return lxcFacts(ctx, c.Runtime, name)
	}
	return nil, fmt.Errorf("the runtime %s does not tell", c.Runtime)
}

func incusFacts(ctx context.Context, name string) (*sweep.ContainerFacts, error) {
	socket, err := incus.Find()
	if err != nil {
		return nil, err
	}
	in, err := incus.New(socket, os.Getenv("INCUS_PROJECT")).Instance(ctx, name)
	if err != nil {
		return nil, err
	}
	config := map[string]string{}
	for key, value := range in.Config {
		if !strings.HasPrefix(key, "volatile.") && !strings.HasPrefix(key, "user.sweep.") {
			config[key] = value
		}
	}
	devices := map[string]map[string]string{}
	for key, device := range in.Devices {
		if key != "sweep-bin" {
			devices[key] = device
		}
	}
	return &sweep.ContainerFacts{Image: clip(in.Config["volatile.base_image"]), Config: digest([]any{config, devices, in.Profiles})}, nil
}

func dockerFacts(ctx context.Context, name string) (*sweep.ContainerFacts, error) {
	program, err := exec.LookPath("docker")
	if err != nil {
		if program, err = exec.LookPath("podman"); err != nil {
			return nil, err
		}
	}
	out, code, err := Local{}.Run(ctx, program, "inspect", "--type", "container", name)
	if err != nil || code != 0 {
		return nil, errors.Join(err, fmt.Errorf("%s inspect: exit %d: %s", program, code, lastLine(string(out))))
	}
	var all []struct {
		Image  string
		Config struct {
			Env, Cmd []string
			User     string
		}
		HostConfig json.RawMessage
	}
	if err := json.Unmarshal(out, &all); err != nil || len(all) != 1 {
		return nil, fmt.Errorf("%s inspect: an answer that is none", program)
	}
	return &sweep.ContainerFacts{Image: clip(all[0].Image), Config: digest([]any{all[0].Config, all[0].HostConfig})}, nil
}

// lxcFacts digests the configuration of an existing container.
func lxcFacts(ctx context.Context, kind, name string) (*sweep.ContainerFacts, error) {
	var text []byte
	var err error
	if kind == sweep.RuntimePct {
		var code int
		if text, code, err = (Local{}).Run(ctx, "pct", "config", name); code != 0 && err == nil {
			err = fmt.Errorf("pct config %s: exit %d", name, code)
		}
	} else {
		text, err = readSome(filepath.Join(lxcPath(ctx), name, "config"), maxQuestion)
	}
	if err != nil {
		return nil, err
	}
	lines := slices.DeleteFunc(strings.Split(string(text), "\n"), func(l string) bool {
		l = strings.TrimSpace(l)
		return l == "" || strings.HasPrefix(l, "#")
	})
	return &sweep.ContainerFacts{Config: digest(lines)}, nil
}

// lxcPath is where LXC has its containers.
func lxcPath(ctx context.Context) string {
	if path := os.Getenv("SWEEP_LXC_PATH"); path != "" {
		return path
	}
	if out, code, err := (Local{}).Run(ctx, "lxc-config", "lxc.lxcpath"); err == nil && code == 0 {
		return strings.TrimSpace(string(out))
	}
	return "/var/lib/lxc"
}

func digest(v any) string {
	text, _ := json.Marshal(v) // maps come in order of their keys
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

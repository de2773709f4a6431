package check

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"sweep/internal/sweep"
)

// containerFacts asks the container tool what a container is. What changes
// from start to start is left out: addresses, process states, our own labels.
func containerFacts(ctx context.Context, tools Tools, c sweep.Container, name string) (*sweep.ContainerFacts, error) {
	ctx, cancel := context.WithTimeout(ctx, toolTime)
	defer cancel()
	switch c.Runtime {
	case sweep.RuntimeIncus:
		return incusFacts(ctx, tools, name)
	case sweep.RuntimeDocker:
		return dockerFacts(ctx, tools, c, name)
	case sweep.RuntimeLXC, sweep.RuntimePct:
		if c.Fresh() {
			return nil, errors.New("a fresh one is made from the plan alone")
		}
		return lxcFacts(ctx, tools, c.Runtime, name)
	}
	return nil, fmt.Errorf("the runtime %s does not tell", c.Runtime)
}

func incusFacts(ctx context.Context, tools Tools, name string) (*sweep.ContainerFacts, error) {
	in, err := tools.incus().Instance(ctx, name)
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

// dockerFacts are the image and what the container was made with. A fresh one
// is told by the plan: what the tool says of it has its own name, log and
// mounts in it, which no two have alike.
func dockerFacts(ctx context.Context, tools Tools, c sweep.Container, name string) (*sweep.ContainerFacts, error) {
	out, code, err := tools.docker(ctx, "inspect", "--type", "container", name)
	if err != nil || code != 0 {
		return nil, errors.Join(err, fmt.Errorf("%s inspect: exit %d: %s", tools.Docker, code, lastLine(string(out))))
	}
	var all []dockerSays
	if err := json.Unmarshal(out, &all); err != nil || len(all) != 1 {
		return nil, fmt.Errorf("%s inspect: an answer that is none", tools.Docker)
	}
	facts := &sweep.ContainerFacts{Image: clip(all[0].Image)}
	if c.Fresh() {
		config, devices := map[string]string{}, map[string]map[string]string{} // none and an empty one are the same
		maps.Copy(config, c.Config)
		maps.Copy(devices, c.Devices)
		facts.Config = digest([]any{config, devices})
	} else {
		all[0].settle()
		facts.Config = digest([]any{all[0].Config, all[0].HostConfig})
	}
	return facts, nil
}

// dockerSays is what `inspect` says of a container, as far as it is of interest.
type dockerSays struct {
	Image  string
	Config struct {
		Env, Cmd []string
		User     string
	}
	HostConfig map[string]any
}

// settle takes out what differs between two containers that were made alike:
// Podman gives the environment in no order and logs to a path with the
// container's ID, and either names the container in HOSTNAME.
func (d *dockerSays) settle() {
	d.Config.Env = slices.DeleteFunc(d.Config.Env, func(pair string) bool { return strings.HasPrefix(pair, "HOSTNAME=") })
	slices.Sort(d.Config.Env)
	for _, key := range []string{"LogConfig", "ContainerIDFile", "ConsoleSize"} {
		delete(d.HostConfig, key)
	}
	if binds, ok := d.HostConfig["Binds"].([]any); ok {
		d.HostConfig["Binds"] = slices.DeleteFunc(binds, ownBind)
	}
}

// ownBind tells whether a mount is sweep's own binary, which a container has
// that sweep made and left: another sweep has another one.
func ownBind(bind any) bool {
	text, _ := bind.(string)
	source, rest, _ := strings.Cut(text, ":")
	inside, _, _ := strings.Cut(rest, ":")
	return strings.HasPrefix(inside, "/var/lib/sweep/bin/sweep-") && filepath.Base(source) == filepath.Base(inside)
}

// lxcFacts digests the configuration of an existing container.
func lxcFacts(ctx context.Context, tools Tools, kind, name string) (*sweep.ContainerFacts, error) {
	var text []byte
	var err error
	if kind == sweep.RuntimePct {
		var code int
		if text, code, err = (Local{}).Run(ctx, "pct", "config", name); code != 0 && err == nil {
			err = fmt.Errorf("pct config %s: exit %d", name, code)
		}
	} else {
		var path string
		if path, err = tools.lxcPath(ctx); err == nil {
			text, err = readSome(filepath.Join(path, name, "config"), maxQuestion)
		}
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

func digest(v any) string {
	text, _ := json.Marshal(v) // maps come in order of their keys
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

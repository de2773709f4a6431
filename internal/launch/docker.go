package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// docker is Docker or Podman, by their command line, which is the same for
// what is needed here.
type docker struct{ tool tool }

// DockerOptions names the program.
type DockerOptions struct {
	Program string   // docker or podman, in PATH or with its path
	Args    []string // before the verb: "--root", "/x"
	Env     []string // NAME=value for the program: DOCKER_HOST
}

// NewDocker is the runtime of Docker and Podman containers.
func NewDocker(d DockerOptions, o ContainerOptions) *Containers {
	return newContainers(&docker{tool{program: d.Program, args: d.Args, env: d.Env}}, o)
}

func (*docker) kind() string { return "docker" }

func (*docker) freshName(_ context.Context, instance string) (string, error) { return instance, nil }

// dockerLabel begins the labels of containers that sweep makes.
const dockerLabel = "sweep."

func (e *docker) look(ctx context.Context, name string) (container, error) {
	if name == "" || strings.HasPrefix(name, "-") {
		return container{}, fmt.Errorf("%q cannot be the name of a container", name)
	}
	out, code, err := e.tool.quick(ctx, "inspect", "--type", "container", name)
	if code > 0 && missing(err) {
		return container{}, fmt.Errorf("the container %s %w: %w", name, ErrGone, err)
	}
	if err != nil {
		return container{}, e.away(err)
	}
	var list []struct {
		Name    string    `json:"Name"`
		Created time.Time `json:"Created"`
		State   struct {
			Running bool `json:"Running"`
			Paused  bool `json:"Paused"`
			Pid     int  `json:"Pid"`
		} `json:"State"`
		Config struct {
			Labels map[string]string `json:"Labels"`
		} `json:"Config"`
	}
	if err := json.Unmarshal(out, &list); err != nil || len(list) != 1 {
		return container{}, fmt.Errorf("read what `%s inspect %s` said: %w", e.tool.program, name, errors.Join(err, fmt.Errorf("%d containers", len(list))))
	}
	in := list[0]
	found := container{name: strings.TrimPrefix(in.Name, "/"), created: in.Created, frozen: in.State.Paused, pid: in.State.Pid}
	found.running = in.State.Running || in.State.Paused
	if in.Config.Labels[dockerLabel+"name"] == found.name {
		found.labels = map[string]string{}
		for key, value := range in.Config.Labels {
			if label, ok := strings.CutPrefix(key, dockerLabel); ok && label != "name" {
				found.labels[label] = value
			}
		}
	}
	return found, nil
}

// missing tells whether the tool knows no such container; Docker and Podman
// say it in their own words, with the same code as anything else.
func missing(err error) bool {
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "no such")
}

// away tells apart a daemon that does not answer.
func (e *docker) away(err error) error {
	text := strings.ToLower(err.Error())
	if strings.Contains(text, "cannot connect") || strings.Contains(text, "error during connect") || strings.Contains(text, "connection refused") {
		return fmt.Errorf("%w (%w)", err, errDaemonAway)
	}
	return err
}

func (e *docker) list(ctx context.Context) ([]container, error) {
	out, _, err := e.tool.quick(ctx, "ps", "--all", "--no-trunc", "--filter", "label="+dockerLabel+"name", "--format", "{{.Names}}")
	if err != nil {
		return nil, e.away(err)
	}
	var list []container
	for _, name := range strings.Fields(string(out)) {
		found, err := e.look(ctx, name)
		switch {
		case errors.Is(err, ErrGone): // removed meanwhile
		case err != nil:
			return nil, err
		case found.labels != nil:
			list = append(list, found)
		}
	}
	return list, nil
}

// make runs a container whose first process is this sweep, which does nothing
// but reap: what the image would start is not wanted here.
func (e *docker) make(ctx context.Context, name string, spec InstanceSpec, bin string) error {
	if spec.Origin.CopyOf != "" {
		return fmt.Errorf("%w: %s has no copies of containers: make an image of %s with `%s commit`, and name it under image", ErrOrigin, e.tool.program, spec.Origin.CopyOf, e.tool.program)
	}
	args := []string{"run", "--detach", "--name", name, "--pull=never", "--label", dockerLabel + "name=" + name}
	for _, label := range sortedNames(spec.Labels) {
		args = append(args, "--label", dockerLabel+label+"="+spec.Labels[label])
	}
	options, err := dockerOptions(spec.Origin)
	if err != nil {
		return err
	}
	args = append(args, options...)
	inside := path.Join(insideBin, path.Base(bin))
	args = append(args, "--volume", bin+":"+inside+":ro", "--entrypoint", inside, spec.Origin.Image, "inside", "idle")
	if _, _, err := e.tool.ask(ctx, args...); err != nil {
		if missing(err) || strings.Contains(err.Error(), "image not known") {
			return fmt.Errorf("%w: there is no image %s on this host: pull it before the night (%w)", ErrOrigin, spec.Origin.Image, err)
		}
		return e.away(err)
	}
	return nil
}

// ownOptions of `run` are sweep's: with another value a container of ours would
// not be known again.
var ownOptions = []string{"name", "label", "label-file", "entrypoint", "detach", "rm", "restart", "pull", "interactive", "tty", "cidfile"}

// dockerOptions writes config as options of `run`, devices of type disk as
// volumes and others by their path.
func dockerOptions(o Origin) ([]string, error) {
	var options []string
	for _, key := range sortedNames(o.Config) {
		if !optionName.MatchString(key) || slices.Contains(ownOptions, key) {
			return nil, fmt.Errorf("%w: config cannot set %q: it is no option of run, or sweep's own", ErrOrigin, key)
		}
		options = append(options, "--"+key+"="+o.Config[key])
	}
	for _, device := range sortedNames(o.Devices) {
		d := o.Devices[device]
		source, inside := d["source"], d["path"]
		if inside == "" {
			inside = source
		}
		if source == "" || strings.Contains(source+inside, ":") {
			return nil, fmt.Errorf("the device %s needs a source, and a path where it is another one inside, without colons", device)
		}
		switch {
		case d["type"] == "disk" && d["readonly"] == "true":
			options = append(options, "--volume="+source+":"+inside+":ro")
		case d["type"] == "disk":
			options = append(options, "--volume="+source+":"+inside)
		default:
			options = append(options, "--device="+source+":"+inside)
		}
	}
	return options, nil
}

func (e *docker) start(ctx context.Context, name string) error {
	_, _, err := e.tool.ask(ctx, "start", name)
	return err
}

func (e *docker) remove(ctx context.Context, name string) error {
	if _, code, err := e.tool.ask(ctx, "rm", "--force", "--volumes", name); err != nil && (code <= 0 || !missing(err)) {
		return e.away(err)
	}
	return nil
}

func (e *docker) run(ctx context.Context, name string, argv []string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	var said tail
	code, err := e.tool.run(ctx, append([]string{"exec", "--interactive", name}, argv...), stdin, stdout, io.MultiWriter(&said, stderr))
	if err == nil && code != 0 {
		if gone := e.away(errors.New(string(said.bytes()))); errors.Is(gone, errDaemonAway) {
			return code, gone
		}
	}
	return code, err
}

func (e *docker) address(ctx context.Context, name string) (string, error) {
	out, _, err := e.tool.quick(ctx, "inspect", "--type", "container", "--format", "{{.HostConfig.NetworkMode}} {{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}", name)
	if err != nil {
		return "", e.away(err)
	}
	fields := strings.Fields(string(out))
	switch {
	case len(fields) > 0 && fields[0] == "host":
		return "127.0.0.1", nil
	case len(fields) > 1:
		return fields[1], nil
	}
	return "", nil
}

func (e *docker) hint(what remedy, name string) string {
	verb := map[remedy]string{thaw: "unpause", wake: "start"}[what]
	return " with `" + path.Base(e.tool.program) + " " + verb + " " + name + "`"
}

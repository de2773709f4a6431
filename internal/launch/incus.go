package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"sweep/internal/incus"
)

// labelPrefix begins the config keys that say that an Incus container is ours.
const labelPrefix = "user.sweep."

// madeLabel is on every container that sweep makes.
const madeLabel = labelPrefix + "made"

// incusEngine is Incus by its REST API.
type incusEngine struct{ client *incus.Client }

// NewIncus is the runtime of Incus containers, by the daemon's own socket on
// this host. project "" is the default one.
func NewIncus(socket, project string, o ContainerOptions) *Containers {
	return newContainers(&incusEngine{incus.New(socket, project)}, o)
}

func (*incusEngine) kind() string { return "incus" }

func (*incusEngine) freshName(_ context.Context, instance string) (string, error) {
	return instance, nil
}

func (e *incusEngine) look(ctx context.Context, name string) (container, error) {
	in, err := e.client.Instance(ctx, name)
	if err != nil {
		return container{}, incusError(err)
	}
	found := ofIncus(in)
	if found.running {
		if s, err := e.client.State(ctx, name); err == nil {
			found.pid = s.PID
		}
	}
	return found, nil
}

func (e *incusEngine) list(ctx context.Context) ([]container, error) {
	all, err := e.client.Instances(ctx, map[string]string{madeLabel: "true"})
	if err != nil {
		return nil, incusError(err)
	}
	list := make([]container, len(all))
	for i, in := range all {
		list[i] = ofIncus(in)
	}
	return list, nil
}

// ofIncus reads the labels: a copy that a person made of a container of ours
// carries them too, but under another name.
func ofIncus(in incus.Instance) container {
	c := container{name: in.Name, created: in.Created, frozen: in.Status == incus.Frozen}
	c.running = c.frozen || in.Status == incus.Running
	if in.Config[madeLabel] != "true" || in.Config[labelPrefix+"name"] != in.Name {
		return c
	}
	c.labels = map[string]string{}
	for key, value := range in.Config {
		if label, ok := strings.CutPrefix(key, labelPrefix); ok && label != "made" && label != "name" {
			c.labels[label] = value
		}
	}
	return c
}

func (e *incusEngine) make(ctx context.Context, name string, spec InstanceSpec, bin string) error {
	config := maps.Clone(spec.Origin.Config)
	if config == nil {
		config = map[string]string{}
	}
	config[madeLabel], config[labelPrefix+"name"] = "true", name
	for label, value := range spec.Labels {
		config[labelPrefix+label] = value
	}
	config["boot.autostart"] = "false" // a reboot of the host ends the run
	devices := maps.Clone(spec.Origin.Devices)
	if devices == nil {
		devices = map[string]map[string]string{}
	}
	devices["sweep-bin"] = incus.Disk(filepath.Dir(bin), insideBin, true, false)
	err := e.client.Create(ctx, incus.CreateRequest{Name: name, Image: spec.Origin.Image, CopyOf: spec.Origin.CopyOf, Config: config, Devices: devices})
	if ctx.Err() != nil {
		e.untilSeen(name)
	}
	switch {
	case errors.Is(err, incus.ErrImage):
		return fmt.Errorf("%w: there is no image %s on this host: see `incus image list`, or fetch it before the night with `incus image copy %s local: --copy-aliases`", ErrOrigin, spec.Origin.Image, spec.Origin.Image)
	case errors.Is(err, incus.ErrNotFound) && spec.Origin.CopyOf != "":
		return fmt.Errorf("%w: there is no container %s to copy; see `incus list`", ErrOrigin, spec.Origin.CopyOf)
	case err != nil:
		return unfit(err)
	}
	return unfit(e.start(ctx, name))
}

// unfit is the error of a container that the daemon does not want: its config
// or its devices are wrong, which is the sweep file's doing and not the host's.
func unfit(err error) error {
	if refused := (*incus.Error)(nil); errors.As(err, &refused) && refused.Code == 400 {
		return fmt.Errorf("%w: see container: config and devices: %w", ErrOrigin, err)
	}
	return incusError(err)
}

// untilSeen waits a moment for a container whose create was cut off: the daemon
// goes on with it, and what is removed before it is there comes back.
func (e *incusEngine) untilSeen(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		if _, err := e.client.Instance(ctx, name); err == nil {
			return
		}
		pauseFor(ctx, againPause)
	}
}

func (e *incusEngine) start(ctx context.Context, name string) error {
	err := e.client.Start(ctx, name)
	if errors.Is(err, incus.ErrRunning) {
		return nil
	}
	return incusError(err)
}

func (e *incusEngine) remove(ctx context.Context, name string) error {
	err := e.client.Stop(ctx, name, true, 0)
	if err == nil || errors.Is(err, incus.ErrStopped) {
		err = e.client.Delete(ctx, name)
	}
	if errors.Is(err, incus.ErrBusy) { // it is being made: a create that was cut off goes on in the daemon
		return fmt.Errorf("%w (%w)", err, errDaemonAway)
	}
	if err != nil { // somebody else may be removing it too
		if _, gone := e.client.Instance(ctx, name); errors.Is(gone, incus.ErrNotFound) {
			return nil
		}
	}
	return incusError(err)
}

// insideOutput is more than a call of `sweep inside` ever answers.
const insideOutput = 3 * MaxExecOutput

func (e *incusEngine) run(ctx context.Context, name string, argv []string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	res, err := e.client.Exec(ctx, name, incus.ExecRequest{Argv: argv, Dir: "/", Stdin: stdin, MaxOutput: insideOutput})
	if err != nil {
		return -1, incusError(err)
	}
	_, outErr := stdout.Write(res.Stdout)
	_, errErr := stderr.Write(res.Stderr)
	return res.Code, errors.Join(outErr, errErr)
}

func (e *incusEngine) readAt(ctx context.Context, name, file string, offset int64, max int) ([]byte, error) {
	text, err := e.client.ReadAt(ctx, name, file, offset, max)
	return text, incusError(err)
}

// incusError says which errors mean that nothing is there, and which that the
// daemon went away.
func incusError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, incus.ErrNotFound), errors.Is(err, incus.ErrStopped):
		return fmt.Errorf("%w (%w)", err, ErrGone)
	case errors.Is(err, incus.ErrFrozen):
		return fmt.Errorf("%w (%w)", err, ErrFrozen)
	case errors.Is(err, incus.ErrUnknown), errors.Is(err, incus.ErrShuttingDown), errors.Is(err, incus.ErrUnreachable):
		return fmt.Errorf("%w (%w)", err, errDaemonAway)
	}
	return err
}

func (e *incusEngine) address(ctx context.Context, name string) (string, error) {
	s, err := e.client.State(ctx, name)
	if err != nil || !s.IPv4().IsValid() {
		return "", incusError(err)
	}
	return s.IPv4().String(), nil
}

func (*incusEngine) hint(what remedy, name string) string {
	return " with `" + map[remedy]string{thaw: "incus resume ", wake: "incus start "}[what] + name + "`"
}

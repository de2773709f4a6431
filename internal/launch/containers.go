package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"sync"
)

// Containers is the runtime of every container tool. An instance is a
// directory inside a container, made by the sweep binary that was put there:
// the same as on the bare machine, one wall further in. The container is one
// that exists, or a fresh one for this instance alone.
//
// Each instance has a marker on this host, written before anything is made, so
// that a sweep that died is found by the next one. What is done inside is done
// by `sweep inside`, called through the tool's exec: no shell, no environment
// of ours, an exit code that cannot be lost without being noticed.
type Containers struct {
	engine  engine
	markers string // directory of this host
	cache   string
	agent   string // a static sweep binary; "": this one

	mu    sync.Mutex
	names map[string]*sync.Mutex // of instances: one change at a time
	homes map[string]home        // by container: where sweep's things are in it
	inits map[string]initProcess // by container: its first process, to read its files through

	binMu sync.Mutex
	bin   string // the static binary on this host, once known
}

var _ Runtime = (*Containers)(nil)

// ContainerOptions is what Containers needs of this host.
type ContainerOptions struct {
	StateDir string // markers are kept in StateDir/containers/KIND
	CacheDir string // the binary is kept in CacheDir/bin, which must be readable by all
	Agent    string // a static sweep binary for the containers; "": this very one
}

func newContainers(e engine, o ContainerOptions) *Containers {
	return &Containers{engine: e, markers: filepath.Join(o.StateDir, "containers", e.kind()), cache: o.CacheDir, agent: o.Agent,
		names: map[string]*sync.Mutex{}, homes: map[string]home{}, inits: map[string]initProcess{}}
}

// Create makes an instance in the container that spec.Origin names.
func (c *Containers) Create(ctx context.Context, spec InstanceSpec) (Instance, error) {
	in, err := c.create(ctx, spec)
	if err != nil {
		return Instance{}, fmt.Errorf("create instance %s: %w", spec.Name, err)
	}
	return in, nil
}

func (c *Containers) create(ctx context.Context, spec InstanceSpec) (Instance, error) {
	if err := checkName(spec.Name); err != nil {
		return Instance{}, err
	}
	if spec.Origin.Instance == "" && !spec.Origin.Fresh() {
		return Instance{}, errors.New("no container, image or copy is named to make it in")
	}
	defer c.lock(spec.Name)()
	m, err := c.readMarker(spec.Name)
	switch {
	case err == nil && (m.Fresh != spec.Origin.Fresh() || !m.Fresh && m.Container != spec.Origin.Instance):
		return Instance{}, fmt.Errorf("an instance of that name is in the container %s already", m.Container)
	case err == nil && m.Bin != "":
		return m.instance(), nil
	case err == nil: // begun by a create that was cut off: it goes on
	case errors.Is(err, fs.ErrNotExist):
		if m, err = c.begin(ctx, spec); err != nil {
			return Instance{}, err
		}
	default:
		return Instance{}, err
	}
	in, err := c.build(ctx, m.Container, spec)
	if errors.Is(err, ErrForeign) {
		return Instance{}, errors.Join(err, c.dropMarker(spec.Name)) // nothing was made
	}
	if err != nil {
		return Instance{}, err
	}
	m.fill(in)
	if err := c.writeMarker(ctx, m); err != nil {
		return Instance{}, err
	}
	return m.instance(), nil
}

// begin chooses the container and writes the marker that reserves it.
func (c *Containers) begin(ctx context.Context, spec InstanceSpec) (containerMarker, error) {
	unlock, err := c.lockMarkers()
	if err != nil {
		return containerMarker{}, err
	}
	defer unlock()
	name, err := c.mayMake(ctx, spec)
	if err != nil {
		return containerMarker{}, err
	}
	m := newMarker(spec, name)
	return m, c.writeMarker(ctx, m)
}

// mayMake refuses a name that something of somebody else's has, and a
// container that cannot take an instance, before anything is written. It
// returns the name of the container.
func (c *Containers) mayMake(ctx context.Context, spec InstanceSpec) (name string, err error) {
	if name = spec.Origin.Instance; name != "" {
		return name, c.runs(ctx, name)
	}
	if name, err = c.engine.freshName(ctx, spec.Name); err != nil {
		return "", err
	}
	found, err := c.engine.look(ctx, name)
	switch {
	case errors.Is(err, ErrGone):
		return name, nil
	case err == nil && !c.owns(found):
		return "", fmt.Errorf("the container %s is %w: choose another name, or remove it yourself", name, ErrForeign)
	}
	return name, err
}

// runs refuses an existing container that cannot run anything.
func (c *Containers) runs(ctx context.Context, name string) error {
	found, err := c.look(ctx, name)
	switch {
	case errors.Is(err, ErrGone):
		return fmt.Errorf("%w: there is no container %s here (runtime %s): create it, or name another one", ErrOrigin, name, c.engine.kind())
	case err != nil:
		return err
	case found.frozen:
		return fmt.Errorf("%w: the container %s is frozen: let it go on%s, then try again", ErrOrigin, name, c.engine.hint(thaw, name))
	case !found.running:
		return fmt.Errorf("%w: the container %s is stopped: start it%s, then try again", ErrOrigin, name, c.engine.hint(wake, name))
	}
	return nil
}

// build makes the container where it is to be made, and the instance in it.
func (c *Containers) build(ctx context.Context, name string, spec InstanceSpec) (Instance, error) {
	if spec.Origin.Fresh() {
		bin, err := c.binary(ctx)
		if err != nil {
			return Instance{}, err
		}
		found, err := c.engine.look(ctx, name)
		switch {
		case errors.Is(err, ErrGone):
			err = c.engine.make(ctx, name, c.stamped(spec), bin)
		case err == nil && !c.owns(found):
			err = fmt.Errorf("the container %s is %w", name, ErrForeign)
		case err == nil && !found.running:
			err = c.engine.start(ctx, name)
		}
		if err != nil {
			return Instance{}, err
		}
	}
	h, err := c.home(ctx, name)
	if err != nil {
		return Instance{}, err
	}
	answer, err := c.inside(ctx, name, h, insideCall{Verb: "create", Name: spec.Name, Labels: spec.Labels}, nil)
	if err != nil {
		return Instance{}, err
	}
	if answer.Instance == nil {
		return Instance{}, fmt.Errorf("sweep inside %s made no instance", name)
	}
	return *answer.Instance, nil
}

// stateLabel says which state directory a fresh container belongs to: several
// users of a host may have sweeps of their own.
const stateLabel = "state"

// stamped is spec with that label.
func (c *Containers) stamped(spec InstanceSpec) InstanceSpec {
	labels := maps.Clone(spec.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[stateLabel] = c.markers
	spec.Labels = labels
	return spec
}

// owns tells whether a fresh container is one of this state directory. LXC and
// Proxmox keep no labels; there our markers are the labels.
func (c *Containers) owns(found container) bool {
	state, stamped := found.labels[stateLabel]
	return found.labels != nil && (!stamped || state == c.markers)
}

// ours are the labelled containers of this state directory, without that label.
func (c *Containers) ours(labelled []container) []container {
	var list []container
	for _, l := range labelled {
		if l.labels[stateLabel] == c.markers {
			delete(l.labels, stateLabel)
			list = append(list, l)
		}
	}
	return list
}

// List returns what the markers tell, and containers of this state directory
// that carry our labels without one: their marker was lost.
func (c *Containers) List(ctx context.Context) ([]Instance, error) {
	markers, err := c.readMarkers()
	if err != nil {
		return nil, fmt.Errorf("list instances: %w", err)
	}
	labelled, err := c.engine.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("list instances: %w", err)
	}
	return joinLists(markers, c.ours(labelled)), nil
}

// lock lets one call at a time change the instance of a name.
func (c *Containers) lock(name string) (unlock func()) {
	c.mu.Lock()
	m := c.names[name]
	if m == nil {
		m = new(sync.Mutex)
		c.names[name] = m
	}
	c.mu.Unlock()
	m.Lock()
	return m.Unlock
}

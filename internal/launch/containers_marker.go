package launch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// containerMarker says on this host that an instance in a container is ours,
// whose, and where. Its last fields are empty until the instance is made.
type containerMarker struct {
	Schema    int               `json:"schema"`
	Name      string            `json:"name"`
	Labels    map[string]string `json:"labels"`
	Container string            `json:"container"`
	Fresh     bool              `json:"fresh"` // the container goes with the instance
	Dir       string            `json:"dir,omitempty"`
	Bin       string            `json:"bin,omitempty"`
	Env       []string          `json:"env,omitempty"`
	Created   time.Time         `json:"created"`
}

func newMarker(spec InstanceSpec, container string) containerMarker {
	labels := maps.Clone(spec.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	return containerMarker{Schema: 1, Name: spec.Name, Labels: labels, Container: container, Fresh: spec.Origin.Fresh(), Created: time.Now().Round(0)}
}

// ownLabels are the labels, with the name of the instance.
func (m containerMarker) ownLabels() map[string]string {
	labels := maps.Clone(m.Labels)
	labels[hostLabel] = m.Name
	return labels
}

// fill takes over what the instance turned out to be.
func (m *containerMarker) fill(in Instance) { m.Dir, m.Bin, m.Env = in.Dir, in.Bin, in.Env }

func (m containerMarker) instance() Instance {
	return Instance{Name: m.Name, Labels: m.Labels, Container: m.Container, Dir: m.Dir, Bin: m.Bin, Env: m.Env, Address: "127.0.0.1", Created: m.Created}
}

// Used tells whether a sweep of this state directory has something in a
// runtime of this kind, or died while it had.
func Used(stateDir, kind string) bool {
	found, _ := filepath.Glob(filepath.Join(stateDir, "containers", kind, "*.json"))
	return len(found) > 0
}

func (c *Containers) markerPath(name string) string { return filepath.Join(c.markers, name+".json") }

// readMarker finds an instance by its name: fs.ErrNotExist when none has it.
func (c *Containers) readMarker(name string) (containerMarker, error) {
	path := c.markerPath(name)
	text, err := readSmall(path)
	if err != nil {
		return containerMarker{}, err
	}
	var m containerMarker
	if err := json.Unmarshal(text, &m); err != nil || m.Schema != 1 || m.Name != name || !sound(m.Container) {
		return containerMarker{}, fmt.Errorf("%s is not readable; remove it when no container %s is left", path, name)
	}
	return m, nil
}

// lockMarkers keeps another sweep from choosing at the same time.
func (c *Containers) lockMarkers() (unlock func(), err error) {
	if err := os.MkdirAll(c.markers, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(c.markers, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// sound tells whether a word can be the name of a container: it becomes a word
// of command lines and a part of addresses.
func sound(name string) bool {
	return name != "" && len(name) <= 255 && name[0] != '-' && name[0] != '.' && !strings.ContainsAny(name, "/\\\x00\n \t")
}

func (c *Containers) writeMarker(ctx context.Context, m containerMarker) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return putFile(ctx, c.markerPath(m.Name), bytes.NewReader(text), 0o600)
}

func (c *Containers) dropMarker(name string) error {
	if err := os.Remove(c.markerPath(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (c *Containers) readMarkers() ([]containerMarker, error) {
	entries, err := os.ReadDir(c.markers)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []containerMarker
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || checkName(name) != nil {
			continue
		}
		m, err := c.readMarker(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// joinLists joins instances that have a marker with containers that carry our
// labels and have none, in order of their names.
func joinLists(markers []containerMarker, labelled []container) []Instance {
	var list []Instance
	for _, m := range markers {
		list = append(list, m.instance())
	}
	for _, l := range labelled {
		if !slices.ContainsFunc(markers, func(m containerMarker) bool { return m.Fresh && m.Container == l.name }) {
			list = append(list, Instance{Name: l.name, Labels: l.labels, Container: l.name, Address: "127.0.0.1", Created: l.created})
		}
	}
	slices.SortFunc(list, func(a, b Instance) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

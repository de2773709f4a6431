package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Process is the runtime without containers: an instance is a directory on
// this machine, and what is held in it runs beside everything else. It
// isolates nothing; what it ends, it ends by the supervisor's knowledge of
// the tree. Something that Exec starts in the background and does not hold is
// therefore not ended by Destroy.
type Process struct {
	instances string
	cache     string

	mu  sync.Mutex
	bin string // the cached binary, once known
}

var _ Runtime = (*Process)(nil)

// ErrForeign is wrapped by the error of a call that would touch an instance
// that sweep did not make.
var ErrForeign = errors.New("not made by sweep")

// markerFile in an instance's directory says that it is ours, and whose.
const markerFile = "instance.json"

type marker struct {
	Schema  int               `json:"schema"`
	Name    string            `json:"name"`
	Labels  map[string]string `json:"labels"`
	Bin     string            `json:"bin"`
	Created time.Time         `json:"created"`
}

// NewProcess keeps instances in stateDir/instances and its binary in
// cacheDir/bin. Nothing is made until the first Create.
func NewProcess(stateDir, cacheDir string) *Process {
	return &Process{instances: filepath.Join(stateDir, "instances"), cache: cacheDir}
}

// Create makes the directory of an instance. It appears under its name with
// the marker in it, at once, so that no crash leaves one without.
func (p *Process) Create(ctx context.Context, spec InstanceSpec) (Instance, error) {
	in, err := p.create(ctx, spec)
	if err != nil {
		return Instance{}, fmt.Errorf("create instance %s: %w", spec.Name, err)
	}
	return in, nil
}

func (p *Process) create(ctx context.Context, spec InstanceSpec) (Instance, error) {
	dir, err := p.dir(spec.Name)
	if err != nil {
		return Instance{}, err
	}
	if in, err := p.read(ctx, spec.Name); !errors.Is(err, fs.ErrNotExist) {
		return in, err
	}
	bin, err := p.binary(ctx)
	if err != nil {
		return Instance{}, err
	}
	if err := os.MkdirAll(p.instances, 0o700); err != nil {
		return Instance{}, err
	}
	made, err := os.MkdirTemp(p.instances, ".new-")
	if err != nil {
		return Instance{}, err
	}
	defer os.RemoveAll(made) // nothing is there after the rename
	labels := maps.Clone(spec.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	text, err := json.Marshal(marker{Schema: 1, Name: spec.Name, Labels: labels, Bin: bin, Created: time.Now()})
	if err != nil {
		return Instance{}, err
	}
	if err := putFile(ctx, filepath.Join(made, markerFile), bytes.NewReader(text), 0o600); err != nil {
		return Instance{}, err
	}
	if err := os.Rename(made, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return Instance{}, err
	}
	return p.read(ctx, spec.Name) // somebody else's, when two create at once
}

// List reads the markers. Directories without one are not ours.
func (p *Process) List(ctx context.Context) ([]Instance, error) {
	entries, err := os.ReadDir(p.instances)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list instances: %w", err)
	}
	var list []Instance
	for _, entry := range entries { // sorted by name
		if checkName(entry.Name()) != nil {
			continue
		}
		in, err := p.read(ctx, entry.Name())
		if errors.Is(err, ErrForeign) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list instances: %w", err)
		}
		list = append(list, in)
	}
	return list, nil
}

// read finds an instance by its name: fs.ErrNotExist when nothing has it,
// ErrForeign when something else does.
func (p *Process) read(ctx context.Context, name string) (Instance, error) {
	dir, err := p.dir(name)
	if err != nil {
		return Instance{}, err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return Instance{}, err
	}
	foreign := fmt.Errorf("%s is %w: choose another name, or remove it yourself", dir, ErrForeign)
	if !info.IsDir() {
		return Instance{}, foreign
	}
	text, err := readSmall(filepath.Join(dir, markerFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Instance{}, err
	}
	var m marker
	if err != nil || json.Unmarshal(text, &m) != nil || m.Schema != 1 || m.Name != name {
		return Instance{}, foreign
	}
	if m.Bin, err = p.usableBinary(ctx, m.Bin); err != nil {
		return Instance{}, err
	}
	return Instance{Name: name, Labels: m.Labels, Dir: dir, Bin: m.Bin, Address: "127.0.0.1", Env: BareEnvironment(), OnHost: true, Created: m.Created}, nil
}

// usableBinary is the one an instance was made with, or ours where the cache
// was emptied meanwhile.
func (p *Process) usableBinary(ctx context.Context, recorded string) (string, error) {
	if info, err := os.Stat(recorded); err == nil && info.Mode().IsRegular() {
		return recorded, nil
	}
	return p.binary(ctx)
}

func (p *Process) binary(ctx context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := os.Stat(p.bin); p.bin == "" || err != nil {
		bin, err := CachedBinary(ctx, p.cache)
		if err != nil {
			return "", err
		}
		p.bin = bin
	}
	return p.bin, nil
}

// dir is absolute: what is held there runs with another working directory.
func (p *Process) dir(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(p.instances, name))
}

// checkName allows what container runtimes allow too.
func checkName(name string) error {
	if name == "" || len(name) > 63 || name[0] == '-' || name[len(name)-1] == '-' {
		return fmt.Errorf("the instance name %q must have 1 to 63 characters and no dash at either end", name)
	}
	for _, c := range name {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-':
		default:
			return fmt.Errorf("the instance name %q may hold only letters, digits and dashes", name)
		}
	}
	return nil
}

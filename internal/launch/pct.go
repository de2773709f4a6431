package launch

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// pct is Proxmox VE's container tool. It makes, starts and removes; programs
// are run by lxc-attach, which is what `pct exec` does in the end: pct itself
// is Perl and takes half a second of a core each time, which a measurement
// beside it would feel, and some versions of it pass our environment on.
//
// A fresh container is ours when a marker of ours has its number and its host
// name is the one that the marker's instance has.
type pct struct {
	lxc
	program  string
	env      []string
	reserved func() map[string]bool // containers that markers of ours name
	making   func(name string) bool // a marker of ours says that it is being made
}

// PctOptions is for hosts that are not laid out as Proxmox VE lays them out.
type PctOptions struct {
	Program string   // "": pct, in PATH
	LXCPath string   // where LXC has the containers; "": LXC's own
	Env     []string // NAME=value for the program
}

// NewPct is the runtime of Proxmox VE containers. It needs root.
func NewPct(p PctOptions, o ContainerOptions) *Containers {
	e := &pct{lxc: lxc{path: p.LXCPath}, program: p.Program, env: p.Env}
	if e.program == "" {
		e.program = "pct"
	}
	c := newContainers(e, o)
	e.labels, e.reserved, e.making = c.freshLabels, c.reserved, c.making
	return c
}

func (*pct) kind() string { return "pct" }

func (e *pct) call(ctx context.Context, args ...string) ([]byte, int, error) {
	return tool{program: e.program, env: e.env}.ask(ctx, args...)
}

// vmid is the number of a container.
var vmid = regexp.MustCompile(`^[1-9][0-9]{2,8}$`)

// firstVMID is where numbers of containers that sweep makes begin: far from
// those that people give.
const firstVMID = 9000

// freshName is the first number that is free.
func (e *pct) freshName(ctx context.Context, _ string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, toolTime)
	defer cancel()
	out, _, err := e.call(ctx, "list")
	if err != nil {
		return "", err
	}
	taken := e.reserved()
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 0 {
			taken[f[0]] = true
		}
	}
	for id := firstVMID; id < firstVMID+1000; id++ {
		word := strconv.Itoa(id)
		if taken[word] {
			continue
		}
		if _, err := e.look(ctx, word); errors.Is(err, ErrGone) { // `list` may not show what is being made
			return word, nil
		}
	}
	return "", fmt.Errorf("no number from %d to %d is free for a container", firstVMID, firstVMID+999)
}

func (e *pct) look(ctx context.Context, name string) (container, error) {
	if !vmid.MatchString(name) {
		return container{}, fmt.Errorf("%q %w: a container of Proxmox is named by its number", name, ErrGone)
	}
	ctx, cancel := context.WithTimeout(ctx, toolTime)
	defer cancel()
	config, code, err := e.call(ctx, "config", name)
	if code == 2 || code > 0 && strings.Contains(err.Error(), "does not exist") {
		return container{}, fmt.Errorf("the container %s %w: %w", name, ErrGone, err)
	}
	if err != nil {
		return container{}, err
	}
	found := container{name: name}
	inner, err := e.lxc.look(ctx, name)
	if err == nil {
		found.running, found.frozen, found.pid = inner.running, inner.frozen, inner.pid
	} else if !errors.Is(err, ErrGone) { // Proxmox gives LXC its config at the first start
		return container{}, err
	}
	for line := range strings.Lines(string(config)) {
		if host, ok := strings.CutPrefix(strings.TrimSpace(line), "hostname: "); ok {
			if labels := e.labels(name); labels != nil && host == labels[hostLabel] {
				found.labels = labels
			}
		}
	}
	if found.labels == nil && e.making(name) { // cut off before it had its host name
		found.labels = e.labels(name)
	}
	return found, nil
}

// hostLabel is the label that says which instance a container was made for.
const hostLabel = "name"

func (e *pct) make(ctx context.Context, id string, spec InstanceSpec, _ string) error {
	options, err := pctOptions(spec.Origin)
	if err != nil {
		return err
	}
	if spec.Origin.CopyOf != "" {
		if err := e.clone(ctx, spec.Origin.CopyOf, id, spec.Name); err != nil {
			return err
		}
		if len(options) > 0 {
			if _, _, err := e.call(ctx, append([]string{"set", id}, options...)...); err != nil {
				return err
			}
		}
	} else if _, _, err := e.call(ctx, append([]string{"create", id, spec.Origin.Image, "--hostname", spec.Name}, options...)...); err != nil {
		return fmt.Errorf("%w; the image is a template such as local:vztmpl/debian-12.tar.zst, see `pveam list local`", err)
	}
	return e.start(ctx, id)
}

func (e *pct) clone(ctx context.Context, from, id, host string) error {
	source, err := e.look(ctx, from)
	if errors.Is(err, ErrGone) {
		return fmt.Errorf("%w: there is no container %s to copy; see `pct list`", ErrOrigin, from)
	}
	if err != nil {
		return err
	}
	if source.running {
		return fmt.Errorf("%w: the container %s runs, and Proxmox clones a running one only from a snapshot: stop it with `pct stop %s`, or name a stopped one or a template in copy-of", ErrOrigin, from, from)
	}
	_, _, err = e.call(ctx, "clone", from, id, "--hostname", host)
	return err
}

// optionName is what an option of a container tool can be called.
var optionName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// pctOptions writes config and devices as options: a device is a property
// string, its part "volume" bare and first.
func pctOptions(o Origin) ([]string, error) {
	var options []string
	add := func(key, value string) error {
		if !optionName.MatchString(key) || key == "hostname" || key == "start" {
			return fmt.Errorf("%w: config cannot set %q: it is no option of pct, or sweep's own", ErrOrigin, key)
		}
		options = append(options, "--"+key, value)
		return nil
	}
	for _, key := range sortedNames(o.Config) {
		if err := add(key, o.Config[key]); err != nil {
			return nil, err
		}
	}
	for _, device := range sortedNames(o.Devices) {
		var parts []string
		if volume := o.Devices[device]["volume"]; volume != "" {
			parts = append(parts, volume)
		}
		for _, key := range sortedNames(o.Devices[device]) {
			if key != "volume" {
				parts = append(parts, key+"="+o.Devices[device][key])
			}
		}
		if err := add(device, strings.Join(parts, ",")); err != nil {
			return nil, err
		}
	}
	return options, nil
}

func (e *pct) start(ctx context.Context, id string) error {
	if found, err := e.look(ctx, id); err == nil && found.running {
		return nil
	}
	_, _, err := e.call(ctx, "start", id)
	return err
}

func (e *pct) remove(ctx context.Context, id string) error {
	found, err := e.look(ctx, id)
	if errors.Is(err, ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	if found.running {
		if _, _, err := e.call(ctx, "stop", id); err != nil {
			return err
		}
	}
	_, _, err = e.call(ctx, "destroy", id)
	return err
}

func (*pct) hint(what remedy, name string) string {
	return " with `" + map[remedy]string{thaw: "pct resume ", wake: "pct start "}[what] + name + "`"
}

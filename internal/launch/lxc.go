package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// lxc is classic LXC by its lxc-* programs. It has no labels: a fresh
// container is ours when a marker of ours has its name.
type lxc struct {
	path   string                              // where its containers are; "": LXC's own
	labels func(name string) map[string]string // of our marker; nil when there is none
}

// NewLXC is the runtime of classic LXC containers. They are in lxcPath, or
// where LXC itself has them when that is empty. It needs root.
func NewLXC(lxcPath string, o ContainerOptions) *Containers {
	e := &lxc{path: lxcPath}
	c := newContainers(e, o)
	e.labels = c.freshLabels
	return c
}

// freshLabels are those of the marker of a fresh container, with the name of
// its instance; nil without a marker.
func (c *Containers) freshLabels(name string) map[string]string {
	markers, err := c.readMarkers()
	if err != nil {
		return nil
	}
	for _, m := range markers {
		if m.Fresh && m.Container == name {
			return m.ownLabels()
		}
	}
	return nil
}

// making tells whether a fresh container is one whose making is not done.
func (c *Containers) making(name string) bool {
	markers, err := c.readMarkers()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(markers, func(m containerMarker) bool { return m.Fresh && m.Container == name && m.Bin == "" })
}

// reserved are the containers that markers name: those that are being made may
// not be there yet.
func (c *Containers) reserved() map[string]bool {
	markers, _ := c.readMarkers() // one that cannot be read stops the create that follows
	names := map[string]bool{}
	for _, m := range markers {
		names[m.Container] = true
	}
	return names
}

func (*lxc) kind() string { return "lxc" }

func (*lxc) freshName(_ context.Context, instance string) (string, error) { return instance, nil }

// call runs one of the lxc-* programs on a container.
func (e *lxc) call(ctx context.Context, program string, args ...string) ([]byte, int, error) {
	return tool{program: program}.ask(ctx, e.at(args)...)
}

func (e *lxc) at(args []string) []string {
	if e.path != "" {
		args = append([]string{"-P", e.path}, args...)
	}
	return args
}

func (e *lxc) look(ctx context.Context, name string) (container, error) {
	ctx, cancel := context.WithTimeout(ctx, toolTime)
	defer cancel()
	if name == "" || strings.ContainsAny(name, "/\x00") || name[0] == '-' || name[0] == '.' {
		return container{}, fmt.Errorf("%q cannot be the name of a container", name)
	}
	out, code, err := e.call(ctx, "lxc-info", "-n", name, "-s", "-p")
	if code == 1 && !e.there(ctx, name) { // the code of any other refusal too
		return container{}, fmt.Errorf("the container %s %w: %w", name, ErrGone, err)
	}
	if err != nil {
		return container{}, err
	}
	found := container{name: name, labels: e.labels(name)}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); strings.ToUpper(key) {
		case "STATE":
			found.frozen = value == "FROZEN"
			found.running = found.frozen || value == "RUNNING"
		case "PID":
			found.pid, _ = strconv.Atoi(value)
		}
	}
	return found, nil
}

// there tells whether a container has a directory; also when that cannot be
// told.
func (e *lxc) there(ctx context.Context, name string) bool {
	dir, err := e.dir(ctx, name)
	if err != nil {
		return true
	}
	_, err = os.Stat(dir)
	return !errors.Is(err, fs.ErrNotExist)
}

// list has nothing to add to the markers.
func (*lxc) list(context.Context) ([]container, error) { return nil, nil }

func (e *lxc) make(ctx context.Context, name string, spec InstanceSpec, _ string) error {
	var err error
	if spec.Origin.CopyOf != "" {
		err = e.copy(ctx, spec.Origin.CopyOf, name)
	} else {
		err = e.fromImage(ctx, spec.Origin.Image, name)
	}
	if err != nil {
		return err
	}
	if err := e.configure(ctx, name, spec.Origin); err != nil {
		return err
	}
	return e.start(ctx, name)
}

func (e *lxc) copy(ctx context.Context, from, name string) error {
	source, err := e.look(ctx, from)
	if errors.Is(err, ErrGone) {
		return fmt.Errorf("%w: there is no container %s to copy: create it, or name another one in copy-of", ErrOrigin, from)
	}
	if err != nil {
		return err
	}
	if source.running {
		return fmt.Errorf("%w: the container %s runs, and LXC copies only stopped ones: stop it with `lxc-stop -n %s`, or name a stopped one in copy-of", ErrOrigin, from, from)
	}
	_, _, err = e.call(ctx, "lxc-copy", "-n", from, "-N", name)
	return err
}

// fromImage makes a container from an archive of a root file system.
func (e *lxc) fromImage(ctx context.Context, image, name string) error {
	if !filepath.IsAbs(image) {
		return fmt.Errorf("%w: the image %q of an LXC container must be the full path of an archive (.tar, .tar.gz, .tar.xz) of its root file system", ErrOrigin, image)
	}
	if _, err := os.Stat(image); err != nil {
		return fmt.Errorf("%w: its image: %w", ErrOrigin, err)
	}
	if _, _, err := e.call(ctx, "lxc-create", "-n", name, "-t", "none", "-f", "/dev/null"); err != nil {
		return err
	}
	dir, err := e.dir(ctx, name)
	if err != nil {
		return err
	}
	root := filepath.Join(dir, "rootfs")
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	if _, _, err := (tool{program: "tar"}).ask(ctx, "-C", root, "--numeric-owner", "-xf", image); err != nil {
		return fmt.Errorf("unpack the image %s: %w", image, err)
	}
	// Incus and Proxmox archives have the root file system one level down.
	if inner := filepath.Join(root, "rootfs"); isDir(inner) && !isDir(filepath.Join(root, "bin")) {
		moved := filepath.Join(dir, "rootfs.whole")
		if err := errors.Join(os.Rename(root, moved), os.Rename(filepath.Join(moved, "rootfs"), root), os.RemoveAll(moved)); err != nil {
			return err
		}
	}
	return e.append(ctx, name, []string{"lxc.rootfs.path = dir:" + root, "lxc.uts.name = " + name,
		"lxc.mount.auto = cgroup:mixed proc:mixed sys:mixed", "lxc.autodev = 1", "lxc.pty.max = 16"})
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// dir is the directory of a container.
func (e *lxc) dir(ctx context.Context, name string) (string, error) {
	path := e.path
	if path == "" {
		out, _, err := tool{program: "lxc-config"}.quick(ctx, "lxc.lxcpath")
		if err != nil {
			return "", err
		}
		path = strings.TrimSpace(string(out))
	}
	return filepath.Join(path, name), nil
}

// configure writes what the sweep file says in LXC's own words: config as
// lines, devices of type disk as mounts, other devices by their path.
func (e *lxc) configure(ctx context.Context, name string, o Origin) error {
	lines := []string{}
	if o.Image != "" && !hasNetwork(o.Config) {
		lines = append(lines, "lxc.net.0.type = empty")
	}
	for _, key := range sortedNames(o.Config) {
		lines = append(lines, key+" = "+o.Config[key])
	}
	for _, device := range sortedNames(o.Devices) {
		d := o.Devices[device]
		source, path := d["source"], strings.TrimPrefix(d["path"], "/")
		if source == "" || path == "" {
			return fmt.Errorf("the device %s needs a source and a path", device)
		}
		options := "bind,create=" + map[bool]string{true: "dir", false: "file"}[isDir(source)]
		if d["readonly"] == "true" {
			options += ",ro"
		}
		lines = append(lines, fmt.Sprintf("lxc.mount.entry = %s %s none %s 0 0", octal(source), octal(path), options))
	}
	for _, line := range lines {
		if strings.ContainsAny(line, "\n\r\x00") {
			return fmt.Errorf("a line of the container's config would hold a line break: %q", line)
		}
	}
	return e.append(ctx, name, lines)
}

// hasNetwork tells whether the sweep file asks for a network. Without one a
// container made from an image has its loopback, over which all load comes.
func hasNetwork(config map[string]string) bool {
	for key := range config {
		if strings.HasPrefix(key, "lxc.net.") {
			return true
		}
	}
	return false
}

// octal writes a path as fstab has it.
func octal(path string) string {
	return strings.NewReplacer(" ", `\040`, "\t", `\011`, `\`, `\134`).Replace(path)
}

func (e *lxc) append(ctx context.Context, name string, lines []string) (err error) {
	if len(lines) == 0 {
		return nil
	}
	dir, err := e.dir(ctx, name)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "config"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	return err
}

func (e *lxc) start(ctx context.Context, name string) error {
	_, _, err := e.call(ctx, "lxc-start", "-n", name)
	return err
}

func (e *lxc) remove(ctx context.Context, name string) error {
	_, _, err := e.call(ctx, "lxc-destroy", "-n", name, "-f")
	if err != nil && !e.there(ctx, name) {
		return nil
	}
	return err
}

// run attaches without our environment: LXC would pass it on.
func (e *lxc) run(ctx context.Context, name string, argv []string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	return tool{program: "lxc-attach"}.run(ctx, append(e.at([]string{"-n", name, "--clear-env", "--"}), argv...), stdin, stdout, stderr)
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (e *lxc) address(ctx context.Context, name string) (string, error) {
	out, _, err := e.call(ctx, "lxc-info", "-n", name, "-i", "-H")
	if err != nil {
		return "", err
	}
	for _, word := range strings.Fields(string(out)) {
		if ip, err := netip.ParseAddr(word); err == nil && ip.Is4() {
			return word, nil
		}
	}
	return "", nil
}

func (*lxc) hint(what remedy, name string) string {
	return " with `" + map[remedy]string{thaw: "lxc-unfreeze -n ", wake: "lxc-start -n "}[what] + name + "`"
}

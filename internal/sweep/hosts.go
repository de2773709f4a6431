package sweep

import (
	"cmp"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"sweep/internal/matrix"
)

// Hosts are the machines that hosts.yaml knows, by the alias that a sweep file
// names under host.
type Hosts struct {
	File     string
	Warnings []Warning
	hosts    []Host
}

// Host is one machine with GPUs: how it is reached, and what every sweep on it
// gets unless the sweep file says otherwise.
type Host struct {
	Alias     string
	Address   string // name or address, with :port where it is not 22; "": the alias is one of ~/.ssh/config
	User      string
	Sudo      bool // commands on the host need sudo
	GPUs      int  // 0: unknown
	GPUMemory int64
	Container Container // the runtime, and the instance or image that is used there
	ModelDirs []string  // directories that hold models
	Env       []matrix.Setting
	BasePort  int // 0: DefaultBasePort
}

// Find is the host of an alias; "local" or "" is this machine, under the alias
// local. The hint is for an alias that is not there.
func (h *Hosts) Find(alias string) (host Host, hint string, ok bool) {
	alias = cmp.Or(alias, "local")
	names := make([]string, 0, len(h.hosts))
	for _, host := range h.hosts {
		if host.Alias == alias {
			return host, "", true
		}
		names = append(names, host.Alias)
	}
	return Host{}, matrix.Suggest(alias, names), false
}

// DecodeHosts reads hosts.yaml: a map of aliases to hosts. It is as strict as
// Decode, and its error is a *FileError.
func DecodeHosts(file string, data []byte) (*Hosts, error) {
	source, problem := readable(data)
	if problem != nil {
		return nil, newFileError(file, source, []Problem{*problem})
	}
	root, problem := document(source)
	if problem != nil {
		if problem.Message == "the file is empty" {
			problem.Hint = "for example `rtx6k: {address: 10.0.0.5, user: root}`"
		}
		return nil, newFileError(file, source, []Problem{*problem})
	}
	d := &decoder{spec: &Spec{File: file, source: source}, budget: nodeBudget}
	hosts := &Hosts{File: file}
	entries, _ := d.entries(root, "hosts.yaml")
	for _, e := range entries {
		if d.named(e.key, e.key.Value, "the alias of a host", hostName) {
			hosts.hosts = append(hosts.hosts, d.hostEntry(e))
		}
	}
	if len(d.problems) > 0 {
		return nil, newFileError(file, source, d.problems)
	}
	hosts.Warnings = d.spec.Warnings
	return hosts, nil
}

var (
	hostName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	userName    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9._-]*\$?$`)
	hostAddress = regexp.MustCompile(`^(?:[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)$`)
)

// hostEntry reads one host.
func (d *decoder) hostEntry(e entry) Host {
	h := Host{Alias: e.key.Value}
	what := "the host " + h.Alias
	d.object(e.value, what, []field{
		{key: "address", read: func(_, v *yaml.Node) {
			text, ok := d.text(v, "address")
			if ok && (len(text) > 255 || !hostAddress.MatchString(text)) {
				d.problem(v, "a name or an address, with :port where it is not 22", "address cannot be %s", quote(text))
			}
			h.Address = text
		}},
		{key: "user", read: func(_, v *yaml.Node) {
			if name, ok := d.text(v, "user"); ok && d.named(v, name, "user", userName) {
				h.User = name
			}
		}},
		{key: "sudo", read: func(_, v *yaml.Node) { h.Sudo = d.yesOrNo(v, "sudo") }},
		{key: "gpus", read: func(_, v *yaml.Node) { h.GPUs, _ = d.whole(v, "gpus", 1, 1024) }},
		{key: "gpu-memory", read: func(_, v *yaml.Node) { h.GPUMemory, _ = d.size(v, "gpu-memory") }},
		{key: "container", read: func(_, v *yaml.Node) {
			d.containerFields(v, "container of "+what, &h.Container, new(containerPlaces))
		}},
		{key: "model-dirs", read: func(_, v *yaml.Node) {
			for _, item := range d.items(v, "model-dirs", "[/models]") {
				if dir := d.absolute(item, "a directory of model-dirs", "/models"); dir != "" {
					h.ModelDirs = append(h.ModelDirs, dir)
				}
			}
		}},
		{key: "env", read: func(_, v *yaml.Node) { h.Env = d.env(v, "env of "+what) }},
		{key: "base-port", read: func(_, v *yaml.Node) { h.BasePort, _ = d.whole(v, "base-port", 1024, 65535) }},
	})
	return h
}

func (d *decoder) yesOrNo(n *yaml.Node, what string) bool {
	if n = d.follow(n); n == nil {
		return false
	}
	if kind := kindOf(n); n.Kind != yaml.ScalarNode || (kind != yes && kind != no) {
		d.problem(n, "", "%s must be true or false, not %s", what, kindName(n))
		return false
	}
	return kindOf(n) == yes
}

// On is the spec with a host's defaults under it: what the sweep file says wins
// over what the host says. Variables of the host come first, so that they are
// part of what is asked and of the IDs.
func (s *Spec) On(h Host) *Spec {
	on := *s
	on.Container = s.Container.over(h.Container)
	on.Server.Env = slices.Concat(h.Env, s.Server.Env)
	on.BasePort = cmp.Or(s.BasePort, h.BasePort)
	on.GPUs = cmp.Or(s.GPUs, h.GPUs)
	return &on
}

// over takes from the host's container what the sweep file's leaves open. A
// sweep file that names another runtime gets nothing of it: instances, images
// and their config mean something else there.
func (c Container) over(host Container) Container {
	if c.Runtime != "" && c.Runtime != host.Runtime {
		return c
	}
	c.Runtime = host.Runtime
	if c.Instance == "" && !c.Fresh() {
		c.Instance, c.Image, c.CopyOf = host.Instance, host.Image, host.CopyOf
	}
	if c.Fresh() && c.Config == nil {
		c.Config = host.Config
	}
	if c.Fresh() && c.Devices == nil {
		c.Devices = host.Devices
	}
	return c
}

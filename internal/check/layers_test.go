package check

import (
	"os"
	"strings"
	"testing"

	"sweep/internal/matrix"
	"sweep/internal/sweep"
)

// E18: each layer between a server and its cards has its own message.
func TestE18EachLayerHasItsMessage(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*place)
		want   []string
	}{
		"no device":   {func(p *place) { p.with(func(x *Place) { x.Devices = nil }) }, []string{"there is no GPU device in glm5", "give the container"}},
		"few devices": {func(p *place) { p.with(func(x *Place) { x.Devices = x.Devices[:6] }) }, []string{"4 GPU devices", "8 are needed"}},
		"no uvm": {func(p *place) {
			p.with(func(x *Place) { x.Devices = append([]string{"/dev/nvidiactl"}, x.Devices[2:]...) })
		}, []string{"/dev/nvidia-uvm is missing", "nvidia-modprobe -u"}},
		"permission": {func(p *place) {
			p.with(func(x *Place) { x.Locked = []string{"/dev/nvidia0: operation not permitted"} })
		}, []string{"may not open /dev/nvidia0", "restart the container"}},
		"no library": {func(p *place) {
			p.with(func(x *Place) { x.Library = "" })
			p.answers[verbCards] = Cards{}
		}, []string{"no NVIDIA library", "nvidia.runtime"}},
		"no driver": {func(p *place) { p.answers[verbCards] = Cards{Path: "/s", Code: 9, Said: "couldn't communicate"} }, []string{"reaches no driver"}},
		"no card":   {func(p *place) { p.answers[verbCards] = Cards{Path: "/s", Code: 6, Said: "No devices were found"} }, []string{"finds no card"}},
		"few cards": {func(p *place) { p.answers[verbCards] = Cards{Path: "/s", Count: 6} }, []string{"6 cards are seen", "8 are needed"}},
		"other":     {func(p *place) { p.answers[verbCards] = Cards{Path: "/s", Code: 15, Said: "GPU is lost"} }, []string{"exit 15", "GPU is lost"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := well()
			c.change(p)
			r := checked(t, inIncus(), options(t, p, smi{cards: eight(1)}))
			wants(t, r, GPUs, "in place", Fail, c.want...)
		})
	}
}

// E19: versions that differ are named, on the host and in the container, before
// any model is loaded.
func TestE19DriverAndLibraryMismatch(t *testing.T) {
	p := well().with(func(x *Place) { x.Library = "570.12" })
	r := checked(t, inIncus(), options(t, p, smi{cards: eight(1)}))
	wants(t, r, GPUs, "in place", Fail, "host runs 580.95.05", "570.12", "give the container the host's library")
	p = well()
	p.answers[verbCards] = Cards{Path: "/s", Code: 18, Said: "Failed to initialize NVML: Driver/library version mismatch"}
	wants(t, checked(t, inIncus(), options(t, p, smi{cards: eight(1)})), GPUs, "in place", Fail, "driver and library differ")
	r = checked(t, inIncus(), options(t, well(), smi{code: 18, said: "Driver/library version mismatch"}))
	wants(t, r, GPUs, "host", Fail, "exit 18", "reboot the host")
}

// E20: a container that lost its cards while the host has them.
func TestE20CardsLostToADaemonReload(t *testing.T) {
	p := well()
	p.answers[verbCards] = Cards{Path: "/s", Code: 255, Said: "Failed to initialize NVML: Unknown Error"}
	r := checked(t, inIncus(), options(t, p, smi{cards: eight(1)}))
	wants(t, r, GPUs, "host", OK)
	wants(t, r, GPUs, "in place", Fail, "Unknown Error", "restart the container", "unattended upgrades")
}

// E25: no answer in time is not "no GPU".
func TestE25SlowIsNotNone(t *testing.T) {
	p := well()
	p.answers[verbCards] = Cards{Path: "/s", Slow: true}
	r := checked(t, inIncus(), options(t, p, smi{cards: strings.ReplaceAll(eight(1), "Enabled", "Disabled")}))
	wants(t, r, GPUs, "in place", Fail, "does not answer", "tried twice")
	wants(t, r, GPUs, "persistence", Note, "nvidia-smi -pm 1")
	if strings.Contains(find(r, GPUs, "in place").Finding, "no GPU") {
		t.Error("a slow answer is called none")
	}
}

func TestHostCards(t *testing.T) {
	for name, c := range map[string]struct {
		host  smi
		what  string
		grade Grade
		want  []string
	}{
		"driver":  {smi{code: 9, said: "couldn't communicate"}, "host", Fail, []string{"driver not loaded", "modprobe nvidia"}},
		"devices": {smi{code: 6, said: "No devices were found"}, "host", Fail, []string{"no card", "dmesg"}},
		"lost":    {smi{code: 15, said: "GPU is lost"}, "host", Fail, []string{"power-cycle"}},
		"few":     {smi{cards: strings.Join(strings.SplitAfter(eight(1), "\n")[:6], "")}, "host", Fail, []string{"needs 8 GPUs, and there are 6"}},
		"busy":    {smi{cards: eight(90000), apps: "4711, GPU-0, 90000, python3\n"}, "in use", Fail, []string{"GPU 0 holds 90000 MiB (pid 4711 python3)", "end it"}},
		"foreign": {smi{cards: eight(300), apps: "4711, GPU-0, 299, xorg\n"}, "in use", Warn, []string{"1 process", "pid 4711 xorg"}},
		"mixed":   {smi{cards: strings.Replace(eight(1), "RTX PRO 6000", "RTX 4090", 1)}, "host", Warn, []string{"slowest"}},
		"links":   {smi{cards: eight(1), topo: "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPHB\t0-31\nGPU1\tPHB\t X \t0-31\n"}, "links", Note, []string{"1 PHB (a CPU's PCIe bridge)"}},
	} {
		t.Run(name, func(t *testing.T) {
			wants(t, checked(t, inIncus(), options(t, well(), c.host)), GPUs, c.what, c.grade, c.want...)
		})
	}
}

// A08: kernels that are compiled at the first start must not go with a fresh
// container.
func TestA08CachesOnStorageThatDoesNotLast(t *testing.T) {
	fresh := planOf(sweep.Configuration{Flags: eightCards(), Container: sweep.Container{Runtime: "lxc", Image: "sglang"}})
	root := func(x *Place) { x.Caches[0].Disk = &Disk{Mount: "/", Type: "ext4", Free: 1 << 39} }
	r := checked(t, fresh, options(t, well().with(root), smi{cards: eight(1)}))
	wants(t, r, Storage, "caches", Warn, "flashinfer", "every start compiles anew", "disk device on /root/.cache")
	wants(t, checked(t, fresh, options(t, well(), smi{cards: eight(1)})), Storage, "caches", OK) // a disk of its own
	wants(t, checked(t, inIncus(), options(t, well().with(root), smi{cards: eight(1)})), Storage, "caches", OK)
	memory := func(x *Place) { x.Caches[0].Disk = &Disk{Mount: "/root/.cache", Type: "tmpfs", Free: 1 << 39} }
	wants(t, checked(t, inIncus(), options(t, well().with(memory), smi{cards: eight(1)})), Storage, "caches", Warn, "in memory")
}

// A21: shared memory and limits are looked at before ranks die of them.
func TestA21SmallSharedMemoryAndLimits(t *testing.T) {
	shm := func(total, free uint64) func(*Place) {
		return func(x *Place) { x.Shm = &Disk{Mount: "/dev/shm", Total: total, Free: free} }
	}
	few := uint64(1000)
	eightMiB := uint64(8 << 20)
	for name, c := range map[string]struct {
		change func(*Place)
		group  Group
		what   string
		grade  Grade
		want   string
	}{
		"64 MB":   {shm(64<<20, 64<<20), Storage, "/dev/shm", Fail, "64 MiB: NCCL fails with 8 ranks"},
		"512 MB":  {shm(512<<20, 512<<20), Storage, "/dev/shm", Warn, "1 GiB or more"},
		"full":    {shm(8<<30, 1<<30), Storage, "/dev/shm", Warn, "1 GiB of 8 GiB left"},
		"none":    {func(x *Place) { x.Shm = &Disk{Mount: "/"} }, Storage, "/dev/shm", Warn, "no file system of its own"},
		"enough":  {shm(8<<30, 8<<30), Storage, "/dev/shm", OK, "8 GiB"},
		"files":   {func(x *Place) { x.NoFile = &few }, Container, "open files", Fail, "hard limit is 1000"},
		"memlock": {func(x *Place) { x.Memlock = &eightMiB }, Container, "memlock", Note, "8 MiB"},
		"disk":    {func(x *Place) { x.Dir = &Disk{Mount: "/", Free: 100 << 20} }, Storage, "directory", Fail, "100 MiB left"},
	} {
		t.Run(name, func(t *testing.T) {
			wants(t, checked(t, inIncus(), options(t, well().with(c.change), smi{cards: eight(1)})), c.group, c.what, c.grade, c.want)
		})
	}
}

// E21: directories are written to, renamed in and removed from as the user that
// servers run as.
func TestE21DirectoriesOfAnotherUser(t *testing.T) {
	p := well().with(func(x *Place) {
		x.User, x.DirTry = 1000, "permission denied"
		x.Caches[0].Try = "permission denied"
	})
	r := checked(t, inIncus(), options(t, p, smi{cards: eight(1)}))
	wants(t, r, Storage, "directory", Fail, "user 1000 cannot write in /var/lib/sweep/x", "shift=true")
	wants(t, r, Storage, "cache", Warn, "/root/.cache/flashinfer")
	if why := tryWrite("/proc"); why == "" {
		t.Error("a directory that cannot be written is not noticed")
	}
	dir := t.TempDir()
	if why := tryWrite(dir); why != "" {
		t.Error(why)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// The interpreter, its sglang and its flags.
func TestServerFindings(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*place)
		what   string
		grade  Grade
		want   []string
	}{
		"E16 no program": {func(p *place) {
			p.with(func(x *Place) { x.NoProg, x.Program = "python3 is not in the server's PATH", "" })
		},
			"program", Fail, []string{"not in the server's PATH", "full path in server.command"}},
		"E16 by PATH": {func(*place) {}, "program", Note, []string{"python3 is /opt/venv/bin/python3 there"}},
		"not installed": {func(p *place) { p.answers[verbInstall] = Python{Packages: map[string]string{"torch": "2"}} },
			"sglang", Fail, []string{"not installed for /opt/venv/bin/python3", "virtual environment"}},
		"no import": {func(p *place) { p.answers[verbParser] = Parser{Trouble: "ImportError: libcuda.so.1"} },
			"import", Fail, []string{"libcuda.so.1"}},
		"slow import": {func(p *place) { p.answers[verbParser] = Parser{Slow: true, Trouble: "it did not answer in time"} },
			"import", Warn, []string{"cold disk"}},
		"flag": {func(p *place) {
			p.answers[verbParser] = Parser{Dump: `{"sglang": "0.6", "flags": [{"names": ["--model-path"]}]}`}
		},
			"flags", Fail, []string{"no flag tp-size"}},
		"no compiler": {func(p *place) { p.with(func(x *Place) { x.NVCC = "" }) }, "compiler", Warn, []string{"nvcc not found"}},
		"env-file":    {func(p *place) { p.with(func(x *Place) { x.EnvFile = "permission denied" }) }, "env-file", Fail, []string{"permission denied"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := well()
			c.change(p)
			wants(t, checked(t, inIncus(), options(t, p, smi{cards: eight(1)})), Server, c.what, c.grade, c.want...)
		})
	}
}

func TestModelOnTheHub(t *testing.T) {
	for name, c := range map[string]struct {
		model   Model
		offline bool
		what    string
		grade   Grade
		want    string
	}{
		"not there, offline": {Model{Asked: "zai/GLM-5", Hub: true, Where: "/hf"}, true, "model", Fail, "hf download zai/GLM-5"},
		"not there, online":  {Model{Asked: "models/GLM-5", Hub: true, Where: "/hf"}, false, "model", Warn, "taken for a name of the hub"},
		"there, online":      {Model{Asked: "zai/GLM-5", Hub: true, Cached: true}, false, "hub", Note, "HF_HUB_OFFLINE is not set"},
		"there, offline":     {Model{Asked: "zai/GLM-5", Hub: true, Cached: true}, true, "model", OK, "zai/GLM-5"},
	} {
		t.Run(name, func(t *testing.T) {
			p := well().with(func(x *Place) { x.Offline = c.offline })
			p.answers[verbModel] = c.model
			wants(t, checked(t, inIncus(), options(t, p, smi{cards: eight(1)})), ModelOf, c.what, c.grade, c.want)
		})
	}
}

func TestPortsAndLeftovers(t *testing.T) {
	p := well().with(func(x *Place) { x.Ports = []Held{{30000, "pid 7 (old)"}} })
	wants(t, checked(t, inIncus(), options(t, p, smi{cards: eight(1)})), Ports, "taken", Fail, "port 30000 is held by pid 7 (old)", "--base-port")
}

func TestCardsNeeded(t *testing.T) {
	for want, flags := range map[int][]matrix.Setting{
		1:  nil,
		8:  {flag("tp-size", "8"), flag("dp-size", "8"), flag("enable-dp-attention")},
		16: {flag("tp-size", "4"), flag("pp-size", "2"), flag("dp-size", "2")},
		4:  {flag("tp-size", "8"), flag("nnodes", "2")},
	} {
		if got := cardsNeeded(sweep.Configuration{Flags: flags}); got != want {
			t.Errorf("%v: %d, want %d", flags, got, want)
		}
	}
}

package sweep

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const hostsFile = `# the machines of the lab
rtx6k:
  address: 10.0.0.5:2222
  user: root
  sudo: false
  gpus: 8
  gpu-memory: 96GiB
  container: {runtime: incus, instance: glm5}
  model-dirs: [/models, /srv/hf]
  env: {CUDA_HOME: /usr/local/cuda, NCCL_P2P_LEVEL: PHB, PROXY: null}
  base-port: 31000
pve:
  address: pve.example.org
  sudo: true
  container: {runtime: pct, instance: 129}
fresh:
  address: "fe80::1"
  container: {runtime: incus, image: "images:debian/13", config: {limits.memory: 80GiB}, devices: {gpu: {type: gpu}}}
plain: {}
`

func decodeHosts(t *testing.T, text string) *Hosts {
	t.Helper()
	hosts, err := DecodeHosts("hosts.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return hosts
}

func TestDecodeHosts(t *testing.T) {
	hosts := decodeHosts(t, hostsFile)
	h, _, ok := hosts.Find("rtx6k")
	if !ok || h.Address != "10.0.0.5:2222" || h.User != "root" || h.Sudo || h.GPUs != 8 || h.GPUMemory != 96<<30 ||
		h.Container.Instance != "glm5" || h.BasePort != 31000 || len(h.Env) != 3 {
		t.Errorf("%+v", h)
	}
	if diff := cmp.Diff([]string{"/models", "/srv/hf"}, h.ModelDirs); diff != "" {
		t.Error(diff)
	}
	if h, _, _ := hosts.Find("pve"); !h.Sudo || h.Container.Instance != "129" {
		t.Errorf("%+v", h)
	}
	if _, hint, ok := hosts.Find("rtx6"); ok || hint != `did you mean "rtx6k"?` {
		t.Errorf("hint %q", hint)
	}
	if _, _, ok := hosts.Find(""); ok {
		t.Error("there is no host local in the file")
	}
}

// TestHostsProblems: as strict as the sweep file, with places.
func TestHostsProblems(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "h:1:1: the file is empty\n    1 | \n      | ^\n        for example `rtx6k: {address: 10.0.0.5, user: root}`",
		"- a\n":                          "h:1:1: hosts.yaml must be a map, not a list\n    1 | - a\n      | ^\n        write it as `key: value` lines",
		"a/b: {}\n":                      "h:1:1: the alias of a host cannot be \"a/b\"\n    1 | a/b: {}\n      | ^\n        use letters, digits and . _ -",
		"a: {adddress: x}\n":             "h:1:5: unknown key \"adddress\" in the host a\n    1 | a: {adddress: x}\n      |     ^\n        did you mean \"address\"?",
		"a: {address: -oProxy=x}\n":      "h:1:14: address cannot be \"-oProxy=x\"\n    1 | a: {address: -oProxy=x}\n      |              ^\n        a name or an address, with :port where it is not 22",
		"a: {user: \"ro ot\"}\n":         "h:1:11: user cannot be \"ro ot\"\n    1 | a: {user: \"ro ot\"}\n      |           ^\n        use letters, digits and . _ -",
		"a: {sudo: \"yes\"}\n":           "h:1:11: sudo must be true or false, not the text \"yes\"\n    1 | a: {sudo: \"yes\"}\n      |           ^",
		"a: {gpu-memory: 96}\n":          "h:1:17: gpu-memory needs a unit, 96 has none\n    1 | a: {gpu-memory: 96}\n      |                 ^\n        write the unit: `96GiB`",
		"a: {gpu-memory: 96 GiB}\n":      "h:1:17: gpu-memory must be a size, not the text \"96 GiB\"\n    1 | a: {gpu-memory: 96 GiB}\n      |                 ^\n        for example `80GiB`; the units are KiB, MiB, GiB, TiB and KB, MB, GB, TB",
		"a: {gpu-memory: 99999999TiB}\n": "h:1:17: gpu-memory cannot be 99999999TiB\n    1 | a: {gpu-memory: 99999999TiB}\n      |                 ^",
		"a: {model-dirs: [models]}\n":    "h:1:18: a directory of model-dirs cannot be \"models\"\n    1 | a: {model-dirs: [models]}\n      |                  ^\n        write the full path, for example `/models`",
		"a: {gpus: 0}\n":                 "h:1:11: gpus must be between 1 and 1024, not 0\n    1 | a: {gpus: 0}\n      |           ^",
		"a: {}\na: {}\n":                 "h:2:1: \"a\" is here a second time; the first is on line 1\n    2 | a: {}\n      | ^\n        remove one of them",
		"a: {}\n\x00":                    "h:2:1: a control character (U+0000)\n    2 |  \n      | ^\n        a sweep file is plain text; if this one is binary, check the name",
	} {
		_, err := DecodeHosts("h", []byte(text))
		var bad *FileError
		if !errors.As(err, &bad) {
			t.Errorf("%q: got %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, err.Error()); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{"1KiB": 1024, "1.5MiB": 3 << 19, "80GiB": 80 << 30, "2TiB": 2 << 40, "1KB": 1000, "96GB": 96e9} {
		h, _, _ := decodeHosts(t, "a: {gpu-memory: "+text+"}\n").Find("a")
		if h.GPUMemory != want {
			t.Errorf("%s is %d, want %d", text, h.GPUMemory, want)
		}
	}
}

// TestSpecOnHost: what the sweep file says wins over what the host says, and
// another runtime takes nothing of the host's container.
func TestSpecOnHost(t *testing.T) {
	hosts := decodeHosts(t, hostsFile)
	for name, c := range map[string]struct {
		text, host string
		container  Container
		env        []string
		port       int
	}{
		"nothing said":    {"", "rtx6k", Container{Runtime: "incus", Instance: "glm5"}, []string{"CUDA_HOME=/usr/local/cuda", "NCCL_P2P_LEVEL=PHB"}, 31000},
		"env over host":   {"server: {command: [a], env: {NCCL_P2P_LEVEL: SYS}, base-port: 32000}\n", "rtx6k", Container{Runtime: "incus", Instance: "glm5"}, []string{"CUDA_HOME=/usr/local/cuda", "NCCL_P2P_LEVEL=SYS"}, 32000},
		"same runtime":    {"container: {runtime: incus, instance: other}\n", "rtx6k", Container{Runtime: "incus", Instance: "other"}, []string{"CUDA_HOME=/usr/local/cuda", "NCCL_P2P_LEVEL=PHB"}, 31000},
		"instance alone":  {"container: {instance: other}\n", "rtx6k", Container{Runtime: "incus", Instance: "other"}, []string{"CUDA_HOME=/usr/local/cuda", "NCCL_P2P_LEVEL=PHB"}, 31000},
		"another runtime": {"container: {runtime: process}\n", "rtx6k", Container{Runtime: "process"}, []string{"CUDA_HOME=/usr/local/cuda", "NCCL_P2P_LEVEL=PHB"}, 31000},
		"proxmox":         {"", "pve", Container{Runtime: "pct", Instance: "129"}, []string{}, 30000},
		"fresh": {"", "fresh", Container{Runtime: "incus", Image: "images:debian/13", Config: map[string]string{"limits.memory": "80GiB"},
			Devices: map[string]map[string]string{"gpu": {"type": "gpu"}}}, []string{}, 30000},
		"kept on fresh": {"container: {instance: glm5}\n", "fresh", Container{Runtime: "incus", Instance: "glm5"}, []string{}, 30000},
		"plain":         {"", "plain", Container{Runtime: "process"}, []string{}, 30000},
	} {
		host, _, ok := hosts.Find(c.host)
		if !ok {
			t.Fatal(c.host)
		}
		spec, err := Decode("case.yaml", []byte(complete(c.text)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		plan, err := NewPlan(spec.On(host), PlanOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		conf := plan.Configurations[0]
		if diff := cmp.Diff(c.container, conf.Container); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(c.env, conf.Environ()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if plan.Runs[0].Port != c.port {
			t.Errorf("%s: port %d", name, plan.Runs[0].Port)
		}
		if plan.GPUs != host.GPUs {
			t.Errorf("%s: %d GPUs", name, plan.GPUs)
		}
	}
}

package sweep

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"sweep/internal/gpu"
)

func ptr[T any](v T) *T { return &v }

func fullHost() HostFacts {
	return HostFacts{Hostname: "h", Kernel: "6.18", Cmdline: "BOOT_IMAGE=/vmlinuz root=UUID=1 iommu=pt", CPU: "EPYC", Cores: 64, NUMANodes: ptr(2), MemoryKB: 1 << 30,
		Driver: "580.95", CUDA: "13.0", GPUs: []gpu.GPU{{UUID: "GPU-a", VBIOS: "98.02", PowerLimit: ptr(600.0), MaxSMClock: ptr(int64(2430)),
			PCIeGenMax: ptr(int64(5)), PCIeWidth: ptr(int64(16)), PCIeWidthMax: ptr(int64(16))}}}
}

func TestHostDiff(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*HostFacts)
		want   string // "": no difference
	}{
		"nothing":        {func(*HostFacts) {}, ""},
		"kernel":         {func(h *HostFacts) { h.Kernel = "6.19" }, "kernel 6.18, now 6.19"},
		"iommu":          {func(h *HostFacts) { h.Cmdline = "BOOT_IMAGE=/vmlinuz root=UUID=1" }, "kernel command line"},
		"boot file only": {func(h *HostFacts) { h.Cmdline = "BOOT_IMAGE=/other root=UUID=1 iommu=pt" }, ""},
		"memory stick":   {func(h *HostFacts) { h.MemoryKB = 3 << 28 }, "memory 1024 GiB, now 768 GiB"},
		"memory a bit":   {func(h *HostFacts) { h.MemoryKB -= 5 << 20 }, ""},
		"numa":           {func(h *HostFacts) { h.NUMANodes = ptr(8) }, "NUMA nodes 2, now 8"},
		"cuda":           {func(h *HostFacts) { h.CUDA = "13.1" }, "CUDA 13.0, now 13.1"},
		"card":           {func(h *HostFacts) { h.GPUs = []gpu.GPU{{UUID: "GPU-b"}} }, "GPUs GPU-a, now GPU-b"},
		"vbios":          {func(h *HostFacts) { h.GPUs[0].VBIOS = "98.03" }, "GPU 0 VBIOS 98.02, now 98.03"},
		"power limit":    {func(h *HostFacts) { h.GPUs[0].PowerLimit = ptr(300.0) }, "GPU 0 power limit 600 W, now 300 W"},
		"lanes":          {func(h *HostFacts) { h.GPUs[0].PCIeWidthMax = ptr(int64(8)) }, "GPU 0 PCIe lanes 16, now 8"},
		"clock":          {func(h *HostFacts) { h.GPUs[0].MaxSMClock = ptr(int64(2000)) }, "GPU 0 max SM clock 2430, now 2000"},
		"lanes asleep":   {func(h *HostFacts) { h.GPUs[0].PCIeWidth = ptr(int64(4)) }, ""},
		"memory in use":  {func(h *HostFacts) { h.GPUs[0].MemoryUsed = ptr(int64(5)) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := fullHost(), fullHost()
			c.change(&b)
			got := HostDiff(a, b)
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// What could not be read tonight, or was not asked by an older sweep, must not
// measure everything anew.
func TestUnknownIsNoDifference(t *testing.T) {
	full := fullHost()
	for _, other := range []HostFacts{{Hostname: "h"}, {Hostname: "h", GPUNote: "nvidia-smi hangs"}, {Hostname: "h", GPUs: []gpu.GPU{{UUID: "GPU-a"}}}} {
		if d := HostDiff(full, other) + HostDiff(other, full); d != "" {
			t.Errorf("%+v: %s", other, d)
		}
	}
	made := Fingerprint{Packages: map[string]string{"sglang": "0.5.17"}, Install: &Install{Digest: "sha256:1", Revision: "r"},
		Container: &ContainerFacts{Image: "i", Config: "c"}, Model: &ModelFacts{Digest: "d", Snapshot: "s"}}
	for _, other := range []Fingerprint{{}, {Install: &Install{}, Container: &ContainerFacts{}, Model: &ModelFacts{}}, {Container: &ContainerFacts{Image: "i"}}} {
		if d := MadeDiff(made, other) + MadeDiff(other, made); d != "" {
			t.Errorf("%+v: %s", other, d)
		}
	}
}

func TestMadeDiff(t *testing.T) {
	base := func() Fingerprint {
		return Fingerprint{Packages: map[string]string{"sglang": "0.5.17"}, Install: &Install{Digest: "sha256:1111", Revision: "abc"},
			Container: &ContainerFacts{Image: "i1", Config: "c1"}, Model: &ModelFacts{Digest: "d1", Snapshot: "s1"},
			Caches: []CacheFacts{{Name: "triton", Files: 0}}}
	}
	changes := map[string]func(*Fingerprint){
		"":                               func(f *Fingerprint) { f.Caches[0].Files = 900 },
		"sglang 0.5.17, now 0.5.18":      func(f *Fingerprint) { f.Packages = map[string]string{"sglang": "0.5.18"} },
		"sglang's source 1111, now 2222": func(f *Fingerprint) { f.Install.Digest = "sha256:2222" },
		"image i1, now i2":               func(f *Fingerprint) { f.Container.Image = "i2" },
		"container config c1, now c2":    func(f *Fingerprint) { f.Container.Config = "c2" },
		"model files d1, now d2":         func(f *Fingerprint) { f.Model.Digest = "d2" },
		"model revision s1, now s2":      func(f *Fingerprint) { f.Model.Snapshot = "s2" },
	}
	for _, want := range slices.Sorted(maps.Keys(changes)) {
		a, b := base(), base()
		changes[want](&b)
		if got := MadeDiff(a, b); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	a, b := base(), base()
	a.Install.Digest, b.Install.Revision = "", "def"
	if got := MadeDiff(a, b); got != "sglang's commit abc, now def" {
		t.Errorf("without a digest: %q", got)
	}
}

// A record of an older sweep reads as before: the new fields are not known.
func TestOlderFingerprintReads(t *testing.T) {
	const old = `{"host":{"hostname":"h","kernel":"6.18","cpu":"EPYC","cores":64,"memory_kb":1073741824,"gpus":[{"index":0,"uuid":"GPU-a","name":"X","memory_total_mib":97887}],"gpu_note":"","driver":"580.95"},"server":null,"packages":{"sglang":"0.5.17"},"sweep":"dev"}`
	var f Fingerprint
	if err := json.Unmarshal([]byte(old), &f); err != nil {
		t.Fatal(err)
	}
	if d := HostDiff(f.Host, fullHost()); d != "" {
		t.Error(d)
	}
	if d := MadeDiff(f, Fingerprint{Packages: map[string]string{"sglang": "0.5.17"}, Install: &Install{Digest: "x"}}); d != "" {
		t.Error(d)
	}
}

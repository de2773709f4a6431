package sweep

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sweep/internal/gpu"
)

// HostFacts are known before anything starts. Zero, "" and null are unknown.
type HostFacts struct {
	Hostname  string            `json:"hostname"`
	Kernel    string            `json:"kernel"`
	Cmdline   string            `json:"cmdline,omitempty"` // of the kernel
	CPU       string            `json:"cpu"`
	Cores     int               `json:"cores"`
	NUMANodes *int              `json:"numa_nodes,omitempty"`
	MemoryKB  int64             `json:"memory_kb"`
	GPUs      []gpu.GPU         `json:"gpus"`     // empty with GPUNote set where there are none to be seen
	GPUNote   string            `json:"gpu_note"` // why GPUs is empty
	Driver    string            `json:"driver,omitempty"`
	CUDA      string            `json:"cuda,omitempty"`    // the newest that the driver supports
	Unknown   map[string]string `json:"unknown,omitempty"` // why something of this is not known, by its key
}

// HostDiff says in a few words what differs between the hosts of two records,
// or "" when measurements of the one may stand for the other. What is not known
// on either side is no difference.
func HostDiff(a, b HostFacts) string {
	d := &factDiff{}
	d.say("host", a.Hostname, b.Hostname)
	d.say("kernel", a.Kernel, b.Kernel)
	d.say("kernel command line", lastingWords(a.Cmdline), lastingWords(b.Cmdline))
	d.say("cpu", a.CPU, b.CPU)
	if a.Cores != 0 && b.Cores != 0 {
		d.say("cores", fmt.Sprint(a.Cores), fmt.Sprint(b.Cores))
	}
	if a.NUMANodes != nil && b.NUMANodes != nil {
		d.say("NUMA nodes", fmt.Sprint(*a.NUMANodes), fmt.Sprint(*b.NUMANodes))
	}
	if differs(float64(a.MemoryKB), float64(b.MemoryKB), memorySlack) {
		d.say("memory", gib(a.MemoryKB), gib(b.MemoryKB))
	}
	d.say("driver", a.Driver, b.Driver)
	d.say("CUDA", a.CUDA, b.CUDA)
	if len(a.GPUs) > 0 && len(b.GPUs) > 0 {
		d.say("GPUs", cards(a), cards(b))
		d.cards(a, b)
	}
	return strings.Join(d.diff, ", ")
}

// memorySlack is how much the memory of one and the same host may differ: the
// kernel keeps a little more or less of it from boot to boot.
const memorySlack = 0.02

type factDiff struct{ diff []string }

func (d *factDiff) say(what, x, y string) {
	if x != "" && y != "" && x != y {
		d.diff = append(d.diff, fmt.Sprintf("%s %s, now %s", what, x, y))
	}
}

// cards compares each card with itself.
func (d *factDiff) cards(a, b HostFacts) {
	for _, x := range a.GPUs {
		i := slices.IndexFunc(b.GPUs, func(y gpu.GPU) bool { return y.UUID == x.UUID })
		if i < 0 {
			continue
		}
		y := b.GPUs[i]
		at := fmt.Sprintf("GPU %d ", x.Index)
		d.say(at+"VBIOS", x.VBIOS, y.VBIOS)
		d.say(at+"power limit", watts(x.PowerLimit), watts(y.PowerLimit))
		d.say(at+"max SM clock", whole(x.MaxSMClock), whole(y.MaxSMClock))
		d.say(at+"PCIe generation", whole(x.PCIeGenMax), whole(y.PCIeGenMax))
		d.say(at+"PCIe lanes", whole(x.PCIeWidthMax), whole(y.PCIeWidthMax))
	}
}

func watts(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%.0f W", *v)
}

func whole(v *int64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(*v)
}

func gib(kb int64) string { return fmt.Sprintf("%.0f GiB", float64(kb)/(1<<20)) }

// differs tells whether two figures are further apart than a share of the
// larger; zero is unknown.
func differs(x, y, slack float64) bool {
	return x != 0 && y != 0 && max(x, y)-min(x, y) > slack*max(x, y)
}

// lastingWords are those of a kernel command line that say how the machine was
// set up: not which file was booted, which the kernel's version tells.
func lastingWords(cmdline string) string {
	words := slices.DeleteFunc(strings.Fields(cmdline), func(w string) bool {
		return strings.HasPrefix(w, "BOOT_IMAGE=") || strings.HasPrefix(w, "initrd=")
	})
	return strings.Join(words, " ")
}

func cards(h HostFacts) string {
	names := make([]string, len(h.GPUs))
	for i, g := range h.GPUs {
		names[i] = g.UUID
	}
	slices.Sort(names)
	return cmp.Or(strings.Join(names, " "), "none")
}

package check

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sweep/internal/gpu"
)

// cards looks at the GPUs as the host sees them: only there are processes
// known.
func (c *checker) cards(ctx context.Context) []Result {
	if onlySimulated(c.plan) {
		return []Result{{GPUs, Note, "simulated", "every server is simulated: GPUs, model and Python are not looked at", ""}}
	}
	need, who := mostCards(c.plan.Configurations)
	s := gpu.Facts(ctx, c.o.Command)
	if len(s.GPUs) == 0 {
		return []Result{{GPUs, Fail, "host", s.Note, hostCardsRemedy(s.Note)}}
	}
	var results []Result
	say := func(grade Grade, what, finding, remedy string) {
		results = append(results, Result{GPUs, grade, what, finding, remedy})
	}
	kinds := map[string]int{}
	for _, g := range s.GPUs {
		name := g.Name
		if g.MemoryTotal != nil {
			name += fmt.Sprintf(", %d GiB", (*g.MemoryTotal+512)/1024)
		}
		kinds[name]++
	}
	text := strings.Join(countsOf(kinds), "; ") + ", driver " + s.Driver
	switch {
	case len(s.GPUs) < need:
		say(Fail, "host", fmt.Sprintf("%s needs %d GPUs, and there are %d (%s)", who, need, len(s.GPUs), text), "lower tp-size or pp-size, or mend the missing card")
	case len(kinds) > 1:
		say(Warn, "host", text, "the slowest sets the pace of all")
	default:
		say(OK, "host", text, "")
	}
	busy := s.Busy()
	for i, b := range busy {
		if i == 3 {
			say(Fail, "in use", fmt.Sprintf("and %d more cards", len(busy)-3), "")
			break
		}
		say(Fail, "in use", b, "end it: no run starts on a card that somebody holds")
	}
	if len(busy) == 0 && len(s.Processes) > 0 {
		p := s.Processes[0]
		say(Warn, "in use", fmt.Sprintf("%s on the cards, first pid %d %s", plural(len(s.Processes), "process", "processes"), p.PID, p.Name), "end what computes there: it would be measured too")
	} else if len(busy) == 0 {
		say(OK, "in use", "all cards are free", "")
	}
	for _, g := range s.GPUs {
		if g.Persistence == "Disabled" {
			say(Note, "persistence", "persistence mode is off: the first look at the cards takes long", "nvidia-smi -pm 1")
			break
		}
	}
	for _, g := range s.GPUs {
		if g.PCIeWidth != nil && g.PCIeWidthMax != nil && *g.PCIeWidth < *g.PCIeWidthMax {
			say(Note, "PCIe", fmt.Sprintf("GPU %d has %d of %d lanes now; an idle card may rest", g.Index, *g.PCIeWidth, *g.PCIeWidthMax), "")
		}
	}
	return results
}

func countsOf(kinds map[string]int) []string {
	var list []string
	for name, n := range kinds {
		list = append(list, fmt.Sprintf("%d × %s", n, name))
	}
	slices.Sort(list)
	return list
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// hostCardsRemedy is what to do by layer: program, driver, versions, card.
func hostCardsRemedy(note string) string {
	switch {
	case strings.Contains(note, "executable file not found"):
		return "install the NVIDIA driver on the host; nvidia-smi comes with it"
	case strings.Contains(note, "exit 9 "):
		return "load the kernel module (`modprobe nvidia`), or install the driver for this kernel"
	case strings.Contains(note, "exit 18 "):
		return "the driver was updated under a running kernel module: reboot the host"
	case strings.Contains(note, "exit 6 "):
		return "the driver runs and finds no card: see `lspci` and `dmesg | grep -i nvrm`"
	case strings.Contains(note, "exit 15 "):
		return "power-cycle the host"
	case strings.Contains(note, "no answer within"):
		return "see `dmesg | grep -i xid`; a hung card needs a reboot. `nvidia-smi -pm 1` makes looks quick"
	}
	return "see what nvidia-smi says on the host"
}

// links notes what decides whether cards reach each other directly.
func (c *checker) links(ctx context.Context) []Result {
	need, _ := mostCards(c.plan.Configurations)
	if need < 2 {
		return nil
	}
	var results []Result
	units, _ := filepath.Glob("/sys/class/iommu/*")
	words := ""
	for _, w := range strings.Fields(firstLine("/proc/cmdline", "")) {
		if strings.Contains(w, "iommu") {
			words += " " + w
		}
	}
	switch {
	case len(units) == 0:
		results = append(results, Result{GPUs, Note, "IOMMU", "off" + words, ""})
	case strings.Contains(words, "iommu=pt"):
		results = append(results, Result{GPUs, Note, "IOMMU", "on, pass-through" + words, ""})
	default:
		results = append(results, Result{GPUs, Note, "IOMMU", "on" + words, "if ranks hang at their first all-reduce, boot with iommu=pt or set NCCL_P2P_DISABLE=1"})
	}
	out, code, err := c.o.Command.Run(ctx, "nvidia-smi", "topo", "-m")
	if links := linksOf(string(out)); err == nil && code == 0 && links != "" {
		results = append(results, Result{GPUs, Note, "links", links, ""})
	}
	return results
}

// linksOf counts the links between cards in nvidia-smi's matrix.
func linksOf(matrix string) string {
	counts := map[string]int{}
	for line := range strings.Lines(matrix) {
		f := strings.Fields(line)
		if len(f) < 2 || !strings.HasPrefix(f[0], "GPU") || strings.HasPrefix(f[1], "GPU") {
			continue // the header, or no row of a card
		}
		for _, link := range f[1:] {
			switch {
			case link == "PIX", link == "PXB", link == "PHB", link == "NODE", link == "SYS":
				counts[link]++
			case strings.HasPrefix(link, "NV") && len(link) < 6:
				counts[link]++
			}
		}
	}
	words := map[string]string{"PIX": "one PCIe switch", "PXB": "several PCIe switches", "PHB": "a CPU's PCIe bridge", "NODE": "one NUMA node", "SYS": "across CPUs"}
	var list []string
	for link, n := range counts {
		text := fmt.Sprintf("%d %s", n/2, link)
		if words[link] != "" {
			text += " (" + words[link] + ")"
		} else {
			text += " (NVLink)"
		}
		list = append(list, text)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

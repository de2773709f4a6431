package report

import (
	"cmp"
	"fmt"
	"strings"

	"sweep/internal/sweep"
)

// hosts are the different places that runs were measured in. Two runs are of
// one place when neither their host nor their server version differs, as far
// as both are known.
type hosts struct {
	found []sweep.Fingerprint
}

// of returns the number of the run's place, from 0. A run without a record is
// of no known place: -1.
func (h *hosts) of(run sweep.Run) int {
	if len(run.Records) == 0 {
		return -1
	}
	f := run.Records[len(run.Records)-1].Fingerprint
	for _, r := range run.Records {
		f.Server = cmp.Or(f.Server, r.Fingerprint.Server)
	}
	for i := range h.found {
		if sweep.HostDiff(h.found[i].Host, f.Host) == "" && sameServer(h.found[i], f) {
			h.found[i].Server = cmp.Or(h.found[i].Server, f.Server)
			return i
		}
	}
	h.found = append(h.found, f)
	return len(h.found) - 1
}

func sameServer(a, b sweep.Fingerprint) bool {
	return a.Server == nil || b.Server == nil ||
		a.Server.Version == b.Server.Version && a.Server.Simulated == b.Server.Simulated
}

// lines describes each place in one line.
func (h *hosts) lines() []string {
	var lines []string
	for i, f := range h.found {
		line := describeHost(f)
		if len(h.found) > 1 {
			line = fmt.Sprintf("host %d: %s", i+1, line)
		}
		lines = append(lines, line)
	}
	return lines
}

func describeHost(f sweep.Fingerprint) string {
	parts := []string{cmp.Or(f.Host.Hostname, "unknown host")}
	switch n := len(f.Host.GPUs); {
	case n > 0:
		parts = append(parts, fmt.Sprintf("%d× %s", n, f.Host.GPUs[0].Name))
	case f.Host.GPUNote != "":
		parts = append(parts, "no GPU seen") // why is told by the run: it can be long
	}
	if f.Host.CPU != "" {
		parts = append(parts, fmt.Sprintf("%s, %d cores", f.Host.CPU, f.Host.Cores))
	}
	if f.Host.Driver != "" {
		parts = append(parts, "driver "+f.Host.Driver)
	}
	if f.Host.Kernel != "" {
		parts = append(parts, "kernel "+f.Host.Kernel)
	}
	switch s := f.Server; {
	case s == nil:
		parts = append(parts, "sglang version unknown")
	case s.Simulated:
		parts = append(parts, "sglang "+cmp.Or(s.Version, "of unknown version")+" (simulated)")
	default:
		parts = append(parts, "sglang "+cmp.Or(s.Version, "of unknown version"))
	}
	return strings.Join(parts, " · ")
}

// versions lists the different versions of sweep that measured.
func (h *hosts) versions() []string {
	var list []string
	seen := map[string]bool{}
	for _, f := range h.found {
		if !seen[f.Sweep] && f.Sweep != "" {
			seen[f.Sweep] = true
			list = append(list, f.Sweep)
		}
	}
	return list
}

package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"sweep/internal/gpu"
	"sweep/internal/sweep"
)

// HostFacts reads what is known of this host before anything starts.
func HostFacts(ctx context.Context, c gpu.Commander) sweep.HostFacts {
	f := sweep.HostFacts{Cores: runtime.NumCPU()}
	f.Hostname, _ = os.Hostname()
	f.Kernel = strings.TrimSpace(firstLine("/proc/sys/kernel/osrelease", ""))
	f.CPU = valueOf(firstLine("/proc/cpuinfo", "model name"))
	if kb, err := strconv.ParseInt(strings.TrimSuffix(valueOf(firstLine("/proc/meminfo", "MemTotal")), " kB"), 10, 64); err == nil {
		f.MemoryKB = kb
	}
	s := gpu.Look(ctx, c)
	for _, g := range s.GPUs {
		g.MemoryUsed = nil // a reading, not a fact of the host
		f.GPUs = append(f.GPUs, g)
	}
	f.Driver, f.GPUNote = s.Driver, s.Note
	return f
}

// firstLine is the first line of a file that starts with prefix.
func firstLine(path, prefix string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), prefix) {
			return lines.Text()
		}
	}
	return ""
}

func valueOf(line string) string {
	_, v, _ := strings.Cut(line, ":")
	return strings.TrimSpace(v)
}

// Local runs short commands on this host.
type Local struct{}

// Run implements gpu.Commander.
func (Local) Run(ctx context.Context, argv ...string) ([]byte, int, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = 2 * time.Second
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		return out, exit.ExitCode(), nil
	}
	if err != nil {
		return out, -1, fmt.Errorf("run %s: %w", argv[0], err)
	}
	return out, 0, nil
}

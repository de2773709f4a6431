package check

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"sweep/internal/gpu"
	"sweep/internal/sweep"
)

// HostFacts reads what is known of this host before anything starts.
func HostFacts(ctx context.Context, c gpu.Commander) sweep.HostFacts {
	f := sweep.HostFacts{Cores: runtime.NumCPU(), Unknown: map[string]string{}}
	read := func(key, path string) string {
		line := firstLine(path, "")
		if line == "" {
			f.Unknown[key] = path + " cannot be read"
		}
		return line
	}
	f.Hostname, _ = os.Hostname()
	f.Kernel = read("kernel", "/proc/sys/kernel/osrelease")
	f.Cmdline = read("cmdline", "/proc/cmdline")
	f.CPU = valueOf(firstLine("/proc/cpuinfo", "model name"))
	if kb, err := strconv.ParseInt(strings.TrimSuffix(valueOf(firstLine("/proc/meminfo", "MemTotal")), " kB"), 10, 64); err == nil {
		f.MemoryKB = kb
	}
	if nodes, _ := filepath.Glob("/sys/devices/system/node/node[0-9]*"); len(nodes) > 0 {
		n := len(nodes)
		f.NUMANodes = &n
	} else {
		f.Unknown["numa_nodes"] = "/sys/devices/system/node has none"
	}
	s := gpu.Facts(ctx, c)
	for _, g := range s.GPUs {
		g.MemoryUsed = nil // a reading, not a fact of the host
		f.GPUs = append(f.GPUs, g)
	}
	f.Driver, f.GPUNote = s.Driver, s.Note
	if len(s.GPUs) > 0 {
		var why string
		if f.CUDA, why = gpu.CUDA(ctx, c); why != "" {
			f.Unknown["cuda"] = why
		}
	}
	if len(f.Unknown) == 0 {
		f.Unknown = nil
	}
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
			return strings.TrimSpace(lines.Text())
		}
	}
	return ""
}

func valueOf(line string) string {
	_, v, _ := strings.Cut(line, ":")
	return strings.TrimSpace(v)
}

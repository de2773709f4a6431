package sweep

import (
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"

	"sweep/internal/sglang"
)

// HostDiff says in a few words what differs between the hosts of two records,
// or "" when measurements of the one may stand for the other.
func HostDiff(a, b HostFacts) string {
	var diff []string
	say := func(what string, x, y any) {
		if x != y {
			diff = append(diff, fmt.Sprintf("%s %v, now %v", what, x, y))
		}
	}
	say("host", a.Hostname, b.Hostname)
	say("kernel", a.Kernel, b.Kernel)
	say("cpu", a.CPU, b.CPU)
	say("cores", a.Cores, b.Cores)
	say("driver", a.Driver, b.Driver)
	say("GPUs", cards(a), cards(b))
	return strings.Join(diff, ", ")
}

func cards(h HostFacts) string {
	names := make([]string, len(h.GPUs))
	for i, g := range h.GPUs {
		names[i] = g.UUID
	}
	sort.Strings(names)
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, " ")
}

// volatileArgs are resolved arguments that differ from start to start of one
// and the same configuration.
var volatileArgs = []string{"host", "port", "nccl_port", "dist_init_addr", "random_seed", "log_level", "log_level_http"}

// ServerDiff says what differs between two servers of one configuration, or ""
// when levels of the one may complete a run of the other. An unknown side is
// no difference.
func ServerDiff(a, b *sglang.Resolved) string {
	if a == nil || b == nil {
		return ""
	}
	var diff []string
	if a.Version != b.Version {
		diff = append(diff, fmt.Sprintf("sglang %s, now %s", a.Version, b.Version))
	}
	if a.ModelPath != b.ModelPath {
		diff = append(diff, fmt.Sprintf("model %s, now %s", a.ModelPath, b.ModelPath))
	}
	if a.Simulated != b.Simulated {
		diff = append(diff, fmt.Sprintf("simulated %t, now %t", a.Simulated, b.Simulated))
	}
	names := map[string]bool{}
	for k := range a.Args {
		names[k] = true
	}
	for k := range b.Args {
		names[k] = true
	}
	sorted := make([]string, 0, len(names))
	for k := range names {
		if !slices.Contains(volatileArgs, k) {
			sorted = append(sorted, k)
		}
	}
	sort.Strings(sorted)
	for _, k := range sorted {
		if !reflect.DeepEqual(a.Args[k], b.Args[k]) {
			diff = append(diff, fmt.Sprintf("%s %v, now %v", k, a.Args[k], b.Args[k]))
		}
	}
	return strings.Join(diff, ", ")
}

package sweep

import (
	"cmp"
	"fmt"
	"maps"
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

// PackageDiff says which packages differ between two servers, or "". Where one
// side is not known there is nothing to tell.
func PackageDiff(a, b map[string]string) string {
	if a == nil || b == nil {
		return ""
	}
	var diff []string
	for _, name := range sortedKeys(a, b) {
		if a[name] != b[name] {
			diff = append(diff, fmt.Sprintf("%s %s, now %s", name, cmp.Or(a[name], "none"), cmp.Or(b[name], "none")))
		}
	}
	return strings.Join(diff, ", ")
}

// sortedKeys are the keys of both maps, each once.
func sortedKeys[V any](a, b map[string]V) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
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
	for _, k := range sortedKeys(a.Args, b.Args) {
		if !slices.Contains(volatileArgs, k) && !reflect.DeepEqual(a.Args[k], b.Args[k]) {
			diff = append(diff, fmt.Sprintf("%s %v, now %v", k, a.Args[k], b.Args[k]))
		}
	}
	return strings.Join(diff, ", ")
}

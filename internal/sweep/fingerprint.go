package sweep

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sweep/internal/sglang"
)

// Fingerprint is what the host turned out to have. Measurements are reused
// only under an equal one; what is not known on either side is no difference,
// or a night on which nvidia-smi hangs would measure everything anew. Null
// means that it could not be read; Unknown says why.
type Fingerprint struct {
	Host   HostFacts        `json:"host"`
	Server *sglang.Resolved `json:"server"` // null until a server answered
	// Packages are the versions of what the server is made of, by package; null
	// where they could not be asked.
	Packages  map[string]string `json:"packages"`
	Install   *Install          `json:"install"`
	Container *ContainerFacts   `json:"container"` // null on the bare machine
	Model     *ModelFacts       `json:"model"`
	Caches    []CacheFacts      `json:"caches,omitempty"`  // of compiled kernels; never compared
	Unknown   map[string]string `json:"unknown,omitempty"` // why something of this is null, by its key
	Sweep     string            `json:"sweep"`             // version of sweep
}

// Install is the sglang package as it is installed. People patch it in place,
// which no version shows.
type Install struct {
	Path     string `json:"path"`            // its directory
	Digest   string `json:"digest"`          // of its .py files: sha256 over their names and contents, in order; "" where it is too large
	Files    int    `json:"files"`           // that Digest is made of
	Revision string `json:"revision"`        // commit of an install from git; "": not from git, or not known
	Dirty    *bool  `json:"dirty,omitempty"` // changes that are not committed; null: not known
}

// ContainerFacts is what the container tool says of the container.
type ContainerFacts struct {
	Image  string `json:"image"`  // the image's own fingerprint; "" where the tool has none
	Config string `json:"config"` // sha256 of its configuration, without what changes from start to start
}

// ModelFacts say which model a path or a name stood for.
type ModelFacts struct {
	Path     string `json:"path"`     // directory that was looked at
	Digest   string `json:"digest"`   // sha256 over config.json, the index of shards, and each shard's name and size
	Snapshot string `json:"snapshot"` // revision, where it is a snapshot of the Hugging Face cache
	Bytes    int64  `json:"bytes"`    // of all shards
}

// CacheFacts say whether a cache of compiled kernels was warm before a start.
type CacheFacts struct {
	Name  string `json:"name"` // "flashinfer", "triton", …
	Path  string `json:"path"`
	Files int    `json:"files"` // 0: cold
	Bytes int64  `json:"bytes"`
	More  bool   `json:"more,omitempty"` // there is more than was counted
}

// MadeDiff says what differs between what two servers of one configuration
// were made of, or "" when measurements of the one may stand for the other.
// Caches are left out: they change with each start.
func MadeDiff(a, b Fingerprint) string {
	var diff []string
	say := func(what, x, y string) {
		if x != "" && y != "" && x != y {
			diff = append(diff, fmt.Sprintf("%s %s, now %s", what, shortDigest(x), shortDigest(y)))
		}
	}
	if d := PackageDiff(a.Packages, b.Packages); d != "" {
		diff = append(diff, d)
	}
	if x, y := a.Install, b.Install; x != nil && y != nil {
		say("sglang's source", x.Digest, y.Digest)
		if x.Digest == "" || y.Digest == "" { // the digest tells more
			say("sglang's commit", x.Revision, y.Revision)
		}
	}
	if x, y := a.Container, b.Container; x != nil && y != nil {
		say("image", x.Image, y.Image)
		say("container config", x.Config, y.Config)
	}
	if x, y := a.Model, b.Model; x != nil && y != nil {
		say("model files", x.Digest, y.Digest)
		say("model revision", x.Snapshot, y.Snapshot)
	}
	return strings.Join(diff, ", ")
}

// shortDigest is the beginning of a digest, enough to tell two apart.
func shortDigest(digest string) string {
	const enough = 12
	digest = strings.TrimPrefix(digest, "sha256:")
	return digest[:min(enough, len(digest))]
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

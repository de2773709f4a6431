package sglang

import (
	"strings"
	"time"
)

// Compile is a line that tells of work which is done once and then kept:
// kernels compiled or tuned, graphs captured. Inside a measured window it means
// that the server was cold there.
type Compile struct {
	At   time.Time   `json:"at"`
	Kind CompileKind `json:"kind"`
	Line string      `json:"line"` // as logged, at most 200 bytes
}

// CompileKind says what was made.
type CompileKind string

// The kinds of one-time work.
const (
	JIT      CompileKind = "jit"
	Autotune CompileKind = "autotune"
	Capture  CompileKind = "capture"
)

// compileMarks are texts of FlashInfer (its logger flashinfer.jit), of sglang's
// DeepGEMM wrapper, and of sglang's own autotune and graph capture.
var compileMarks = []struct {
	text string
	kind CompileKind
}{
	{"oading JIT ops: ", JIT}, // "Loading …" and "Finished loading …"
	{"DeepGEMM JIT Pre-Compile session", JIT},
	{"DeepGEMM JIT Compiling for ", JIT},
	{"FlashInfer autotune", Autotune},
	{"apture cuda graph begin", Capture},
	{"CUDA graph begin", Capture},
}

// maxCompiles bounds what is kept: eight ranks each compile some tens of kernels.
const maxCompiles = 500

// compiles collects the lines; ranks that say the same at once count once.
type compiles struct {
	list []Compile
	last string
}

func (c *compiles) read(l line) {
	for _, m := range compileMarks {
		if !strings.Contains(l.text, m.text) {
			continue
		}
		if l.text != c.last && len(c.list) < maxCompiles {
			c.list = append(c.list, Compile{At: l.at, Kind: m.kind, Line: strings.ToValidUTF8(l.text[:min(len(l.text), 200)], "")})
		}
		c.last = l.text
		return
	}
}

// Compiles returns the lines so far that tell of kernels compiled or tuned and
// of graphs captured, by the clock of Feed.
func (r *LogReader) Compiles() []Compile {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Compile(nil), r.compiles.list...)
}

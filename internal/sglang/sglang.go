// Package sglang knows the server: how its log reads, what its API answers,
// why it fails. It does no benchmarking and starts nothing.
package sglang

import "time"

// PhaseName is one stage of a server's start, in the order they come.
type PhaseName string

// The phases of a start.
const (
	PhaseProcess  PhaseName = "process"  // started, arguments read, no rank yet
	PhaseInit     PhaseName = "init"     // torch distributed init (collectives)
	PhaseWeights  PhaseName = "weights"  // loading weights
	PhaseKV       PhaseName = "kv-cache" // allocating the KV pool
	PhaseAutotune PhaseName = "autotune" // FlashInfer autotune
	PhaseGraphs   PhaseName = "graphs"   // CUDA graph capture
	PhaseHTTP     PhaseName = "http"     // the HTTP server comes up
	PhaseWarmup   PhaseName = "warmup"   // the server's own warm-up until /health is 200
	PhaseServing  PhaseName = "serving"  // fired up
)

// Phase is one stage as it happened.
type Phase struct {
	Name    PhaseName `json:"name"`
	Started time.Time `json:"started"`
	Seconds *float64  `json:"seconds"` // null while it lasts
	Stated  *float64  `json:"stated"`  // the duration the server itself logged, seconds; null where it does not
}

// Class decides what the night does after a failure.
type Class string

// The classes of failure.
const (
	Config    Class = "config"    // this configuration cannot work; no retry
	Transient Class = "transient" // may work next time
	Serving   Class = "serving"   // failed under load; one new attempt
	Host      Class = "host"      // the machine is not fit; stop
	Ours      Class = "ours"      // a bug in sweep; stop
)

// Cause is why a server failed: the first known signature in time.
type Cause struct {
	Code  string    `json:"code"` // "unknown-flag", "cuda-oom", "kv-too-small", "unknown" …
	Class Class     `json:"class"`
	Phase PhaseName `json:"phase"`
	Line  string    `json:"line"` // the line that told, stripped of control characters
	Hint  string    `json:"hint"` // what to do next, one sentence
}

// Resolved is what a running server says of itself (GET /server_info), without
// secrets.
type Resolved struct {
	Version            string         `json:"version"`
	ModelPath          string         `json:"model_path"`
	Simulated          bool           `json:"simulated"`
	Args               map[string]any `json:"args"` // resolved server arguments by their Python names, scalars and lists only
	MaxTotalTokens     *int           `json:"max_total_num_tokens"`
	MaxRunningRequests *int           `json:"max_running_requests"`
	VocabSize          *int           `json:"vocab_size"`
}

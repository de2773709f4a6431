// Package sweep composes the nouns: the Spec that a file decodes to, the Plan
// that it expands to, and the Record that is kept of each run. It does no I/O.
package sweep

import (
	"time"

	"sweep/internal/bench"
	"sweep/internal/matrix"
	"sweep/internal/sglang"
)

// Schema is the version of every file sweep writes.
const Schema = 1

// Spec is a decoded sweep file.
type Spec struct {
	File        string // as named by the user, for messages
	Name        string
	Description string
	Host        string // "" or "local": this machine
	Container   Container
	Server      Server
	Axes        []matrix.Axis
	Exclude     []matrix.Rule
	Include     []matrix.Include
	Baseline    matrix.Rule // without labels: the first configuration
	Bench       Bench
	Goals       []Goal
	Repeats     int // 0 means 1
	Night       Night
	Hooks       Hooks
	BasePort    int       // first port of the plan; 0 means DefaultBasePort
	GPUs        int       // of the host, as hosts.yaml says; 0: unknown
	Warnings    []Warning // what a person should know, though the file is sound

	source []byte // the text, for the line and the caret of later errors
	places containerPlaces
}

// Warning is something in a sweep file that is allowed and probably not meant.
type Warning struct {
	Pos  matrix.Pos
	Text string
}

// DefaultBasePort is where planned ports start.
const DefaultBasePort = 30000

// Server is what every configuration has in common.
type Server struct {
	Command []string // interpreter and module; the word "sweep" in front stands for this binary
	Env     []matrix.Setting
	EnvFile string   // read where the server runs; what Env and the axes set wins over it
	Secrets []string // variables taken from the caller's environment; never written, printed or hashed
	Flags   []matrix.Setting
	Ready   ReadyBudget
}

// ReadyBudget bounds a start.
type ReadyBudget struct {
	Timeout time.Duration `json:"timeout"` // hard cap over all phases
	Stall   time.Duration `json:"stall"`   // without any growth of the log
}

// Bench is the ladder every run is measured on.
type Bench struct {
	Tool     string        // bench.Tool or ToolBenchServing
	Levels   []bench.Level // in file order, single stream first
	MaxLevel time.Duration
	AboveCap string // what to do with levels above max-running-requests; "" means CapOnce
	SLO      bench.SLO
}

// ToolBenchServing is sglang's own load generator.
const ToolBenchServing = "bench_serving"

// Configuration is one point of the matrix, complete.
type Configuration struct {
	ID        string           `json:"id"`   // hash of what is asked: "c" and ten hex digits
	Name      string           `json:"name"` // axis=label,… or a given name
	Labels    []matrix.Label   `json:"labels"`
	Baseline  bool             `json:"baseline,omitempty"`
	Command   []string         `json:"command"`
	Flags     []matrix.Setting `json:"flags"` // merged, later wins, in order of first mention; left-out flags are not in it
	Env       []matrix.Setting `json:"env"`   // the same; a variable to unset is in it, as Omit
	EnvFile   string           `json:"env_file,omitempty"`
	Container Container        `json:"container"`
}

// PlannedRun is one configuration to be measured once.
type PlannedRun struct {
	Ordinal int      `json:"ordinal"` // from 1, the order they run in
	Config  string   `json:"config"`  // Configuration.ID
	Repeat  int      `json:"repeat"`  // from 1
	Port    int      `json:"port"`    // base port + ordinal - 1, starting again after PortSpan
	Argv    []string `json:"argv"`    // exact

	Skip []Skipped `json:"skip,omitempty"` // levels of the plan that this run leaves out; see Plan.LevelsOf
}

// Dropped is a combination that a rule removed.
type Dropped struct {
	Name string     `json:"name"`
	Rule string     `json:"rule"`
	Pos  matrix.Pos `json:"pos"`
}

// DropRule is a rule of exclude that dropped something, for a person who reads
// what it dropped.
type DropRule struct {
	Pos     matrix.Pos `json:"pos"`
	When    string     `json:"when,omitempty"`    // the first line of its condition, with … where that goes on
	Comment string     `json:"comment,omitempty"` // the first sentence of the comment above it in the file
}

// Plan is everything that will happen, frozen: later edits of the file do not
// matter to it.
type Plan struct {
	Schema         int             `json:"schema"`
	Name           string          `json:"name"`
	Description    string          `json:"description,omitempty"`
	File           string          `json:"file"`
	Host           string          `json:"host"`
	Configurations []Configuration `json:"configurations"`
	Dropped        []Dropped       `json:"dropped,omitempty"`
	DropRules      []DropRule      `json:"drop_rules,omitempty"` // of exclude, those that dropped something, in the order of their first victim
	Warnings       []string        `json:"warnings,omitempty"`
	Runs           []PlannedRun    `json:"runs"`
	Levels         []bench.Level   `json:"levels"` // of every run, but for what it skips
	Tool           string          `json:"tool"`
	MaxLevel       time.Duration   `json:"max_level"`
	SLO            bench.SLO       `json:"slo"`
	Ready          ReadyBudget     `json:"ready"`
	Repeats        int             `json:"repeats"`
	Secrets        []string        `json:"secrets,omitempty"` // names of variables to take from the caller's environment
	Goals          []Goal          `json:"goals,omitempty"`
	Night          Night           `json:"night,omitzero"`
	Hooks          Hooks           `json:"hooks,omitzero"`
	GPUs           int             `json:"gpus,omitempty"` // of the host, as hosts.yaml says; 0: unknown
	Hash           string          `json:"hash"`           // of everything that will happen; see hash
}

// Status is how far an attempt came.
type Status string

// The statuses of an attempt.
const (
	StatusRunning     Status = "running"     // not ended, or its runner died
	StatusDone        Status = "done"        // every level was measured (well or badly)
	StatusFailed      Status = "failed"      // the server failed; what was measured is kept
	StatusInterrupted Status = "interrupted" // stopped by a person
)

// Record is kept of one attempt: record.json.
type Record struct {
	Schema        int              `json:"schema"`
	Sweep         string           `json:"sweep"` // the night that made it
	Run           string           `json:"run"`
	Repeat        int              `json:"repeat"`
	Attempt       int              `json:"attempt"`
	Configuration Configuration    `json:"configuration"`
	Argv          []string         `json:"argv"`
	Port          int              `json:"port"`
	Started       time.Time        `json:"started"`
	Ended         *time.Time       `json:"ended"`
	Status        Status           `json:"status"`
	Fingerprint   Fingerprint      `json:"fingerprint"`
	Phases        []sglang.Phase   `json:"phases,omitempty"`
	ReadySeconds  *float64         `json:"ready_s"`            // start to first real generation
	Compiles      []sglang.Compile `json:"compiles,omitempty"` // kernels compiled or tuned, graphs captured, as the log told
	Failure       *Failure         `json:"failure"`
	Unmeasured    []Unmeasured     `json:"unmeasured,omitempty"` // levels that the bench could not measure though the server served
	Teardown      *Teardown        `json:"teardown"`
}

// Failure is why an attempt did not end well.
type Failure struct {
	Cause   sglang.Cause `json:"cause"`
	Exit    string       `json:"exit,omitempty"`  // "exit 2", "SIGKILL", "" while it lived
	Level   string       `json:"level,omitempty"` // level key, when it happened under load
	Excerpt []string     `json:"excerpt,omitempty"`
	Log     string       `json:"log,omitempty"` // path of server.log, relative to the data directory
}

// Unmeasured is a level without a measurement, and why.
type Unmeasured struct {
	Key    string `json:"key"`
	Reason string `json:"reason"`
}

// Teardown is the proof that nothing was left.
type Teardown struct {
	Clean   bool     `json:"clean"`
	Seconds float64  `json:"seconds"`
	Killed  bool     `json:"killed"` // TERM was not enough
	Left    []string `json:"left,omitempty"`
	GPU     string   `json:"gpu"` // "clean", or why it was not looked at
}

// Run is all that is known of one run: its attempts and its measurements.
type Run struct {
	ID           string              `json:"id"`           // configuration
	Name         string              `json:"run"`          // unique, sortable
	Records      []Record            `json:"records"`      // by attempt
	Measurements []bench.Measurement `json:"measurements"` // at most one a level key, any attempt
}

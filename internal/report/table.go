// Package report lays runs side by side for a person in the morning: on a
// terminal, as Markdown, as JSON. Whatever it prints of a number says what it
// is, where it came from and how sure it is; nothing that failed or was left
// out is missing from it.
package report

import "time"

// Table is a comparison, ready to be written. Build makes it, and all text in
// it is fit for a terminal.
type Table struct {
	Schema   int        `json:"schema"`
	Title    string     `json:"title"`
	From     *time.Time `json:"measured_from"`            // first start of a run; null: not known
	To       *time.Time `json:"measured_to"`              // last end of one
	Sides    []string   `json:"sides,omitempty"`          // of a comparison across nights: "A: …", "B: …"
	Hosts    []string   `json:"hosts"`                    // where it was measured; more than one means that machines are compared too
	Only     *Selection `json:"selection,omitempty"`      // absent: every configuration is shown
	Common   []string   `json:"common"`                   // axis=label that all configurations have
	Baseline string     `json:"baseline"`                 // its full name; empty: none
	Recipes  []Recipe   `json:"recipes,omitempty"`        // what the names that were given by hand stand for
	Reused   string     `json:"reused,omitempty"`         // how many of a night's runs are of earlier ones; empty: none
	Inert    []string   `json:"inert,omitempty"`          // configurations that turned out to be one and the same server, a sentence each
	Goodput  string     `json:"goodput_limits,omitempty"` // limits of goodput at every level that has it; empty: each says its own
	Marks    []string   `json:"marks"`                    // "SIMULATED", "IMPORTED": of every figure below
	Warnings []string   `json:"warnings"`
	Levels   []Level    `json:"levels"`
	Goals    []Goal     `json:"goals,omitempty"` // of a night whose file has some; one goal at two levels is two
	Failures []Failure  `json:"failures"`
	NotRun   []Gap      `json:"not_run"`
	Closing  []string   `json:"closing"`  // the best of each level, one sentence each
	Cautions []string   `json:"cautions"` // what the differences are worth

	changes bool // rows are called by what they change of the baseline
}

// Level is one level key: only rows of one Level are ever compared.
type Level struct {
	Key       string     `json:"key"`
	Name      string     `json:"name"`                     // "c=64"
	Heading   string     `json:"heading"`                  // the load and the workload in words
	Marks     []string   `json:"marks"`                    // as in Table, of this level's figures
	Goodput   string     `json:"goodput_limits,omitempty"` // "TTFT ≤ 100 ms and TPOT ≤ 20 ms"; empty: no goodput here
	Rows      []Row      `json:"rows"`                     // ranked ones first, best first
	Footnotes []Footnote `json:"footnotes"`
}

// Row is one configuration at one level on one host.
type Row struct {
	Rank     int      `json:"rank"` // from 1; 0: not ranked
	Name     string   `json:"name"` // what tells it from the other rows
	Full     string   `json:"configuration"`
	ID       string   `json:"id"`
	Baseline bool     `json:"baseline"`
	Verdict  string   `json:"verdict"`          // valid, suspect, invalid; empty: there is no measurement
	Failed   bool     `json:"failed"`           // no run of it came to this level, and one failed
	Reason   string   `json:"reason,omitempty"` // why there is no measurement, or only an invalid one
	Tied     bool     `json:"tied"`             // no difference is shown between it and another row at the top
	SameRuns bool     `json:"same_runs"`        // it is made of the very runs it would be compared with
	Runs     []string `json:"runs"`             // behind the figures
	N        int      `json:"n"`                // repeats behind the figures
	Planned  int      `json:"planned"`          // repeats that were to be; 0: not known
	Figures  Figures  `json:"figures"`
	Delta    *Delta   `json:"delta"` // null: nothing to compare with
	Notes    []int    `json:"footnotes,omitempty"`
	Marks    []string `json:"marks,omitempty"`

	cell cell // whose row it is
}

// Figures are medians over the repeats of a row. Throughputs are tokens a
// second, latencies milliseconds. Output is over the whole window, but in steady
// state where max-level ended the level; the other throughputs are always over
// the whole window.
type Figures struct {
	Output    Figure `json:"output_throughput"`
	Input     Figure `json:"input_throughput"`
	Total     Figure `json:"total_throughput"`
	PerStream Figure `json:"per_stream"` // output tokens a second that one user sees
	TTFTp50   Figure `json:"ttft_p50_ms"`
	TTFTp99   Figure `json:"ttft_p99_ms"`
	TPOTp50   Figure `json:"tpot_p50_ms"`
	TPOTp99   Figure `json:"tpot_p99_ms"`
	E2Ep50    Figure `json:"e2e_p50_ms"`
	E2Ep99    Figure `json:"e2e_p99_ms"`

	Goodput      Figure `json:"goodput"`       // requests a second within the limits of the level
	GoodputShare Figure `json:"goodput_share"` // of all issued, 0 to 1

	Whole         Figure `json:"window_output_throughput"` // output tokens over all of it
	Window        Figure `json:"window_s"`
	Steady        Figure `json:"steady_output_throughput"` // between the first full load and the last send
	SteadySeconds Figure `json:"steady_s"`
}

// Figure is one metric over repeats. Null is not measurable, never zero.
type Figure struct {
	Median *float64 `json:"median"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	N      int      `json:"n"` // repeats that have it
}

// Delta is the difference of the medians of output throughput.
type Delta struct {
	Percent   float64 `json:"percent"`
	N         int     `json:"n"`
	BaselineN int     `json:"baseline_n"`
	Overlap   bool    `json:"ranges_overlap"`
	Unproven  bool    `json:"no_difference_shown"` // ranges overlap, or the medians are within the practical threshold
	Shared    int     `json:"shared_runs"`         // runs that are on both sides
	Hosts     bool    `json:"other_host"`          // the two sides were measured on different hosts
}

// Footnote is a finding, or the same finding of several rows of a level.
type Footnote struct {
	Number int    `json:"number"`
	Grade  string `json:"grade"`
	Code   string `json:"code"`
	Text   string `json:"text"`
}

// Failure is why a start did not end well, once for all repeats that failed in
// the same way.
type Failure struct {
	Name    string   `json:"name"`
	Where   []string `json:"where"` // "repeat 1, attempt 2"
	Cause   string   `json:"cause"`
	Class   string   `json:"class"`
	Phase   string   `json:"phase"`
	Level   string   `json:"level,omitempty"` // under which it happened
	Exit    string   `json:"exit,omitempty"`
	Line    string   `json:"line"` // the first line that told
	Hint    string   `json:"hint"`
	Logs    []string `json:"logs,omitempty"` // of the starts in Where: paths of server.log below the data directory
	Retried bool     `json:"retried"`        // a later attempt measured everything
}

// Gap is what was planned and not measured.
type Gap struct {
	Reason string   `json:"reason"`
	What   []string `json:"what"` // configurations, with their repeat and level
}

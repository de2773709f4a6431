// Package bench puts load on a server and measures what comes back: workloads
// that can be repeated to the token, closed loops and bursts, and metrics with
// the definitions of docs/metrics.md.
package bench

import "time"

// Workload says what requests look like. Lengths are drawn exactly as
// sglang.bench_serving draws them, so that totals can be laid side by side.
type Workload struct {
	Name       string  `json:"name"`
	InputLen   int     `json:"input_len"`   // tokens
	OutputLen  int     `json:"output_len"`  // tokens
	RangeRatio float64 `json:"range_ratio"` // 0: uniform 1..L; 1: exactly L
	Seed       uint32  `json:"seed"`
	Text       string  `json:"text,omitempty"` // a file of prompts, sent as text; empty: random token ids
}

// Mode is how requests are issued.
type Mode string

// The modes of a level.
const (
	Closed Mode = "closed" // Concurrency slots, each sends its next request when the last one ended
	Burst  Mode = "burst"  // all prompts at once
	Open   Mode = "open"   // Rate requests a second, whatever is answered
)

// Arrival is how the requests of an open loop are spaced.
type Arrival string

// The arrivals of an open loop.
const (
	Poisson  Arrival = ""         // gaps drawn from the exponential distribution, by the workload's seed
	Constant Arrival = "constant" // equal gaps
)

// Level is one load point.
type Level struct {
	Mode        Mode     `json:"mode"`
	Concurrency int      `json:"concurrency"`       // slots, or the size of the burst
	Prompts     int      `json:"prompts"`           // requests issued
	Rate        float64  `json:"rate,omitempty"`    // requests a second, mode open only
	Arrival     Arrival  `json:"arrival,omitempty"` // mode open only
	Workload    Workload `json:"workload"`
}

// Job is one level to measure against one server: the input of `sweep bench --job`.
type Job struct {
	Schema    int           `json:"schema"`
	URL       string        `json:"url"` // http://host:port, a path prefix allowed
	Level     Level         `json:"level"`
	Vocab     int           `json:"vocab"`     // token ids are drawn below this; 0 means DefaultVocab
	Warmup    int           `json:"warmup"`    // requests before the window; 0 means as many as slots, negative none
	MaxLevel  time.Duration `json:"max_level"` // stop issuing after this; 0 means never
	Simulated bool          `json:"simulated"` // the server said so; the measurement carries it on
	Stall     time.Duration `json:"stall"`     // no token on any stream for this long ends the level; 0 means DefaultStall
	SLO       SLO           `json:"slo"`

	NoPrefixCache bool `json:"no_prefix_cache"` // the server runs without one (--disable-radix-cache): there is nothing to flush

	Sockets Sockets `json:"sockets,omitempty"` // how connections are driven; empty: the best that this system has
}

// SLO holds limits that one request must meet; zero means no limit.
type SLO struct {
	TTFT time.Duration `json:"ttft,omitempty"`
	TPOT time.Duration `json:"tpot,omitempty"`
	E2E  time.Duration `json:"e2e,omitempty"`
}

// Request is what one request experienced: a line of requests.jsonl.
// Times are milliseconds; Sent and Due count from the start of the window.
// Latencies count from Sent, in an open loop from Due.
type Request struct {
	Index     int      `json:"i"`
	Sent      float64  `json:"sent_ms"`
	Due       *float64 `json:"due_ms,omitempty"` // when it was meant to be sent: open loop only
	TTFT      *float64 `json:"ttft_ms"`          // first chunk with at least one output token
	TTFTText  *float64 `json:"ttft_text_ms"`     // first chunk with visible text
	E2E       *float64 `json:"e2e_ms"`
	TPOT      *float64 `json:"tpot_ms"` // null below two output tokens
	AskedIn   int      `json:"asked_in"`
	AskedOut  int      `json:"asked_out"`
	PromptTok *int     `json:"prompt_tokens"` // as the server counted
	OutputTok *int     `json:"output_tokens"` // as the server counted
	CachedTok *int     `json:"cached_tokens"`
	Chunks    int      `json:"chunks"`
	Finish    string   `json:"finish,omitempty"` // length, stop, abort
	Error     string   `json:"error,omitempty"`  // set: the request failed
	InStream  bool     `json:"in_stream,omitempty"`
}

// Dist summarises samples: exact percentiles by linear interpolation, n beside
// them. Every figure is null when there are no samples.
type Dist struct {
	N    int      `json:"n"`
	Mean *float64 `json:"mean"`
	Std  *float64 `json:"std"`
	P50  *float64 `json:"p50"`
	P90  *float64 `json:"p90"`
	P95  *float64 `json:"p95"`
	P99  *float64 `json:"p99"`
	Max  *float64 `json:"max"`
}

// Range bounds what was seen; null when nothing was.
type Range struct {
	Min  *float64 `json:"min"`
	Mean *float64 `json:"mean"`
	Max  *float64 `json:"max"`
}

// Ended says how a level came to its end.
type Ended string

// The ways a level ends.
const (
	Complete    Ended = "complete"    // every prompt was issued and answered or failed
	AtMaxLevel  Ended = "max-level"   // issuing stopped at max-level, before every prompt was issued
	Stalled     Ended = "stalled"     // no token on any stream for the stall budget
	Interrupted Ended = "interrupted" // asked to stop
	ServerGone  Ended = "server-gone" // connections refused: the server no longer listens
)

// Measurement is what one level of one run produced: measurement.json.
// Throughputs are tokens or requests a second of the window; latencies are
// milliseconds. Null means not measurable, never zero.
type Measurement struct {
	Schema      int           `json:"schema"`
	Key         string        `json:"key"`
	Level       Level         `json:"level"`
	Tool        string        `json:"tool"`         // "native"
	ToolVersion string        `json:"tool_version"` // definitions version of the tool
	Attempt     int           `json:"attempt"`      // of the run; set by the runner
	Simulated   bool          `json:"simulated"`    // the server was a simulator
	Started     time.Time     `json:"started"`      // wall clock at the window's start
	Window      float64       `json:"window_s"`     // first measured send to last measured byte, seconds
	MaxLevel    time.Duration `json:"max_level"`    // the limit it ran under; 0: none
	Ended       Ended         `json:"ended"`

	Asked     int            `json:"asked"`  // requests the level wanted
	Issued    int            `json:"issued"` // requests sent
	Completed int            `json:"completed"`
	Failed    int            `json:"failed"` // issued - completed - cut, counted by us
	Cut       int            `json:"cut"`    // still in flight when issuing had ended at max-level and its grace was over, or when we were stopped
	InStream  int            `json:"failed_in_stream"`
	Short     int            `json:"tokens_short"`   // completed with fewer output tokens than asked
	Mismatch  *int           `json:"input_mismatch"` // completed, and the server counted another prompt length than was sent; null like InputTokens, and for text
	Errors    map[string]int `json:"errors,omitempty"`

	AskedInputTokens  int64  `json:"asked_input_tokens"`  // as drawn, over all prompts
	AskedOutputTokens int64  `json:"asked_output_tokens"` // as drawn, over all prompts
	InputTokens       *int64 `json:"input_tokens"`        // server's count, successful requests; null unless it counted each of them
	OutputTokens      int64  `json:"output_tokens"`       // server's count, successful requests
	CachedTokens      *int64 `json:"cached_tokens"`       // of InputTokens; null unless the server said it of each of them
	DistinctPrompts   int    `json:"distinct_prompts"`    // of those issued
	OutputLen         Range  `json:"output_len"`          // tokens a successful request, as observed

	OutputThroughput     *float64 `json:"output_throughput"`
	InputThroughput      *float64 `json:"input_throughput"`
	TotalThroughput      *float64 `json:"total_throughput"`
	PeakOutputThroughput *float64 `json:"peak_output_throughput"` // best second
	PerStream            *float64 `json:"per_stream"`             // 1000 / median tpot
	RequestThroughput    *float64 `json:"request_throughput"`
	SLO                  SLO      `json:"slo"`           // the limits that goodput was counted with
	Goodput              *float64 `json:"goodput"`       // null without an SLO
	GoodputShare         *float64 `json:"goodput_share"` // of all issued

	TTFT     Dist `json:"ttft"`
	TTFTText Dist `json:"ttft_text"`
	E2E      Dist `json:"e2e"`
	TPOT     Dist `json:"tpot"`
	ITL      Dist `json:"itl"`
	ChunkGap Dist `json:"chunk_gap"`

	ConcurrencyMean *float64 `json:"concurrency_mean"` // in flight, measured
	ConcurrencyPeak int      `json:"concurrency_peak"`

	Steady *Steady `json:"steady"` // null for a burst or when there was none
	Client Client  `json:"client"`
	Warmup int     `json:"warmup_requests"`
	Flush  string  `json:"flush"` // "flushed", "skipped: …" where there is nothing to flush, or why it was not
}

// Steady is the part of a closed loop between the moment the last slot was
// first filled and the moment the last request was issued.
type Steady struct {
	Seconds          float64  `json:"seconds"`
	OutputTokens     int64    `json:"output_tokens"` // by chunk arrival
	OutputThroughput *float64 `json:"output_throughput"`
}

// Client is the load generator's view of itself.
type Client struct {
	CPUSeconds *float64 `json:"cpu_s"`      // user and system, over the window
	CPUShare   *float64 `json:"cpu_share"`  // of the cores it may use, over the window
	SendLag    Dist     `json:"send_lag"`   // scheduled to sent, ms
	FirstWave  *float64 `json:"first_wave"` // from the first to the last slot's first send, ms
	SlotShare  *float64 `json:"slot_share"` // of slots filled between ramp and last issue; null for a burst
	Redials    int      `json:"redials"`    // connections that the server had closed and that were opened again inside the window

	Sockets  Sockets  `json:"sockets,omitempty"` // how connections were driven
	EventLag Dist     `json:"event_lag"`         // of chunks with tokens: received by the kernel to read by the client, ms; of stamped ones only
	Stamped  *float64 `json:"kernel_stamped"`    // share of these chunks whose time is the kernel's; the others' is that of the read
}

// Usable tells whether the level was measured to its end: a partial
// measurement is kept and shown, but the level is measured again.
func (m Measurement) Usable() bool { return m.Ended == Complete || m.Ended == AtMaxLevel }

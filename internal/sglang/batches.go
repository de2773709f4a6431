package sglang

import (
	"iter"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// BatchStats is what the server's own batch lines said. Null means that no
// line said it. Only the first pipeline stage counts (each stage logs the same
// batch), and of the tensor-parallel ranks the one that logs batches. With
// data parallelism the maxima are those of one data-parallel rank.
type BatchStats struct {
	Decode             int      `json:"decode_lines"`
	Prefill            int      `json:"prefill_lines"`
	MaxRunning         *int     `json:"max_running"`             // requests in one batch
	MaxQueued          *int     `json:"max_queued"`              // requests waiting
	Retractions        int      `json:"retractions"`             // requests put back because the KV pool was full
	GraphShare         *float64 `json:"cuda_graph_share"`        // of the decode lines that say whether a CUDA graph ran, 0 to 1
	MaxTotalTokens     *int     `json:"max_total_num_tokens"`    // tokens in the KV pool, as logged at the start
	MaxRunningRequests *int     `json:"max_running_requests"`    // as logged at the start
	AvailableGPUMem    *float64 `json:"available_gpu_mem_gb"`    // GB left on the first GPU, as logged at the start
	AcceptLength       *float64 `json:"accept_length,omitempty"` // mean over decode lines, speculative decoding only
	TokenUsage         *float64 `json:"max_token_usage"`         // largest share of the KV pool in use, 0 to 1
}

// batchLine fits every release: "Decode batch. #…" up to v0.5.3, "Decode
// batch, #…" later, "Decode batch [123], #…" with SGLANG_LOG_FORWARD_ITERS.
var batchLine = regexp.MustCompile(`^(Decode|Prefill) batch(?: \[\d+\])?[.,] (.*)`)

var retracted = regexp.MustCompile(`#retracted_reqs: (\d{1,9})`)

// batches collects BatchStats.
type batches struct {
	stats        BatchStats
	graph, eager int               // decode lines with and without a CUDA graph
	accept       float64           // sum of accept lengths
	accepts      int               // decode lines that state one
	lead         map[string]string // data-parallel rank to the rank that logs its batches
}

// read takes a line that speaks of batches, and says whether it was one.
func (b *batches) read(l line) bool {
	switch {
	case strings.HasPrefix(l.text, "max_total_num_tokens="):
		if firstStage(l.rank) {
			b.limits(l.text)
		}
		return true
	case strings.HasPrefix(l.text, "Decode batch"), strings.HasPrefix(l.text, "Prefill batch"):
		if m := batchLine.FindStringSubmatch(l.text); m != nil {
			if firstStage(l.rank) && b.leads(l.rank) {
				b.batch(m[1] == "Decode", m[2])
			}
			return true
		}
	case strings.Contains(l.text, "#retracted_reqs: "):
		if m := retracted.FindStringSubmatch(l.text); m != nil && firstStage(l.rank) && b.leads(l.rank) {
			n, _ := strconv.Atoi(m[1])
			b.stats.Retractions += n
		}
		return true
	}
	return false
}

func firstStage(rank string) bool {
	stage := rankPart(rank, "PP")
	return stage == "" || stage == "0"
}

// leads reports whether this rank is the one that is counted among those that
// share its batches: the first that spoke.
func (b *batches) leads(rank string) bool {
	dp := rankPart(rank, "DP")
	if b.lead == nil {
		b.lead = map[string]string{}
	}
	if _, ok := b.lead[dp]; !ok && len(b.lead) < maxRanks {
		b.lead[dp] = rank
	}
	return b.lead[dp] == rank
}

func (b *batches) limits(text string) {
	for key, value := range pairs(text, "=") {
		switch key {
		case "max_total_num_tokens":
			setOnce(&b.stats.MaxTotalTokens, value)
		case "max_running_requests":
			setOnce(&b.stats.MaxRunningRequests, value)
		case "available_gpu_mem":
			if f, ok := number(value); ok && b.stats.AvailableGPUMem == nil {
				b.stats.AvailableGPUMem = &f
			}
		}
	}
}

func (b *batches) batch(decode bool, text string) {
	if decode {
		b.stats.Decode++
	} else {
		b.stats.Prefill++
	}
	for key, value := range pairs(text, ": ") {
		switch key {
		case "#running-req":
			raise(&b.stats.MaxRunning, value)
		case "#queue-req":
			raise(&b.stats.MaxQueued, value)
		case "token usage":
			if f, ok := number(value); ok && (b.stats.TokenUsage == nil || f > *b.stats.TokenUsage) {
				b.stats.TokenUsage = &f
			}
		case "accept len":
			if f, ok := number(value); ok && decode {
				b.accept += f
				b.accepts++
			}
		case "cuda graph":
			if decode && value == "True" {
				b.graph++
			} else if decode && value == "False" {
				b.eager++
			}
		}
	}
}

func (b *batches) sum() BatchStats {
	s := b.stats
	if n := b.graph + b.eager; n > 0 {
		s.GraphShare = new(float64(b.graph) / float64(n))
	}
	if b.accepts > 0 {
		s.AcceptLength = new(b.accept / float64(b.accepts))
	}
	return s
}

// pairs walks through "key<sep>value, key<sep>value".
func pairs(text, sep string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for part := range strings.SplitSeq(text, ", ") {
			key, value, ok := strings.Cut(part, sep)
			if ok && !yield(strings.TrimSpace(key), strings.TrimRight(value, ", ")) {
				return
			}
		}
	}
}

func setOnce(to **int, value string) {
	if n, err := strconv.Atoi(value); err == nil && *to == nil {
		*to = &n
	}
}

func raise(to **int, value string) {
	if n, err := strconv.Atoi(value); err == nil && (*to == nil || n > **to) {
		*to = &n
	}
}

// number reads "0.04" and "6.10 GB".
func number(value string) (float64, bool) {
	value, _, _ = strings.Cut(value, " ")
	f, err := strconv.ParseFloat(value, 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

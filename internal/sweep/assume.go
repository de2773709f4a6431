package sweep

import (
	"math"
	"slices"
	"time"

	"sweep/internal/bench"
)

// Assumptions stand in for what was never recorded.
type Assumptions struct {
	Start  time.Duration // of a server, until it answers
	Stop   time.Duration // of a server, and the proof that nothing is left
	Output []AssumedRate // by requests in flight, rising
	Input  float64       // input tok/s of the prefill
	Text   int           // input tokens of a text whose length is not known
}

// AssumedRate is what a server is taken to generate at one concurrency.
type AssumedRate struct {
	Concurrency int
	Output      float64 // output tok/s of the whole server
}

// AssumptionsFor are those for a plan. Of a real server they are the slow side
// of what was measured for GLM-5 (NVFP4) at TP8 on eight RTX PRO 6000: CUDA
// graphs off, 128/128 tokens, start-up of eight minutes. A simulated server
// starts in seconds and generates what its small preset does.
func AssumptionsFor(p *Plan) Assumptions {
	for i := range p.Configurations {
		if !p.Configurations[i].simulated() {
			return Assumptions{Start: 8 * time.Minute, Stop: 30 * time.Second, Input: 4000, Text: 512,
				Output: []AssumedRate{{1, 10}, {256, 704}, {512, 1105}, {1024, 1601}, {2048, 1639}}}
		}
	}
	return Assumptions{Start: 5 * time.Second, Stop: time.Second, Input: 20_000, Text: 512,
		Output: []AssumedRate{{1, 160}, {8, 640}, {32, 1340}}}
}

// rate is the assumed output rate at a concurrency: a straight line between the
// known ones on logarithmic scales, level beyond the last.
func (a Assumptions) rate(concurrency int) float64 {
	n := len(a.Output)
	if n == 0 {
		return 0
	}
	i := slices.IndexFunc(a.Output, func(r AssumedRate) bool { return r.Concurrency >= concurrency })
	switch {
	case i == 0:
		return a.Output[0].Output
	case i < 0:
		return a.Output[n-1].Output
	}
	low, high := a.Output[i-1], a.Output[i]
	share := math.Log(float64(concurrency)/float64(low.Concurrency)) / math.Log(float64(high.Concurrency)/float64(low.Concurrency))
	return low.Output * math.Pow(high.Output/low.Output, share)
}

// exactDraws is up to how many prompts lengths are drawn for an estimate; above
// it their mean is as good.
const exactDraws = 20_000

// tokens are the input and output tokens of a level.
func (a Assumptions) tokens(l bench.Level) (in, out float64) {
	w := l.Workload
	n := l.Prompts
	switch {
	case w.Text != "":
		return float64(n) * float64(a.Text), float64(n) * float64(w.OutputLen)
	case n <= exactDraws:
		ins, outs := w.Lengths(n)
		for i := range ins {
			in += float64(ins[i])
			out += float64(outs[i])
		}
		return in, out
	}
	mean := func(most int) float64 { return (max(math.Floor(float64(most)*w.RangeRatio), 1) + float64(most)) / 2 }
	return float64(n) * mean(w.InputLen), float64(n) * mean(w.OutputLen)
}

// warmTokens is how many output tokens a request of the warm-up has.
const warmTokens = 32

// Rates are the assumed output rates at the levels of a plan, by concurrency.
func (a Assumptions) Rates(levels []bench.Level) []AssumedRate {
	var rates []AssumedRate
	for _, l := range levels {
		if l.Mode != bench.Open {
			rates = append(rates, AssumedRate{l.Concurrency, a.rate(l.Concurrency)})
		}
	}
	slices.SortFunc(rates, func(x, y AssumedRate) int { return x.Concurrency - y.Concurrency })
	return slices.Compact(rates)
}

// issuing is how long a level of which all requests take a whole time goes on
// sending new ones: max-level ends only that. A burst sends all at once; a closed
// loop sends its last when only as many are left as it keeps in flight.
func issuing(l bench.Level, whole time.Duration) time.Duration {
	switch l.Mode {
	case bench.Burst:
		return 0
	case bench.Open:
		return time.Duration(float64(l.Prompts) / l.Rate * float64(time.Second))
	}
	if l.Prompts <= l.Concurrency {
		return 0
	}
	return time.Duration(float64(whole) * float64(l.Prompts-l.Concurrency) / float64(l.Prompts))
}

// level is how long a level takes: warm-up, prefill and generation of all its
// tokens at the assumed rate; where max-level stops the issuing before its end,
// that and what the requests in flight are given. whole is what all its requests
// would take, without the warm-up.
func (a Assumptions) level(l bench.Level, most int, maxLevel time.Duration) (took, whole time.Duration) {
	in, out := a.tokens(l)
	slots := l.Concurrency
	if l.Mode == bench.Open {
		// Little's law needs the latency; the rate that keeps up is the best guess.
		slots = l.Prompts
	}
	if most > 0 {
		slots = min(slots, most)
	}
	rate := a.rate(slots)
	if rate <= 0 || a.Input <= 0 || l.Prompts <= 0 {
		return 0, 0
	}
	seconds := in/a.Input + out/rate
	if l.Mode == bench.Open {
		seconds = max(seconds, float64(l.Prompts)/l.Rate)
	}
	whole = time.Duration(seconds * float64(time.Second))
	mean := out / float64(l.Prompts)
	if maxLevel > 0 && issuing(l, whole) > maxLevel {
		// What is in flight then has half as long again as the longest so far.
		longest := min(mean*float64(max(l.Concurrency, 1))/rate, maxLevel.Seconds())
		seconds = min(seconds, maxLevel.Seconds()+max(bench.DrainGrace.Seconds(), 1.5*longest))
	}
	warm := min(mean, warmTokens) * float64(max(l.Concurrency, 1)) / rate
	return time.Duration((seconds + warm) * float64(time.Second)), whole
}

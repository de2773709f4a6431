package report

import (
	"strings"

	"sweep/internal/bench"
)

// metric is a figure that goals are about.
type metric struct {
	unit    string
	low     bool // less is better
	limited bool // it counts requests within limits
	get     func(bench.Measurement) *float64
}

// metricOf knows the metrics by the names that a sweep file has for them. Of
// another name nothing is known: it has no figure.
func metricOf(name string) metric {
	switch name {
	case "per_stream":
		return metric{unit: "output tok/s per stream", get: func(m bench.Measurement) *float64 { return m.PerStream }}
	case "output_throughput": // as the levels show it: of steady state where max-level ended one
		return metric{unit: "output tok/s", get: func(m bench.Measurement) *float64 { return m.Headline() }}
	case "input_throughput":
		return metric{unit: "input tok/s", get: func(m bench.Measurement) *float64 { return m.InputThroughput }}
	case "total_throughput":
		return metric{unit: "total tok/s", get: func(m bench.Measurement) *float64 { return m.TotalThroughput }}
	case "peak_output_throughput":
		return metric{unit: "output tok/s in the best second", get: func(m bench.Measurement) *float64 { return m.PeakOutputThroughput }}
	case "request_throughput":
		return metric{unit: "req/s", get: func(m bench.Measurement) *float64 { return m.RequestThroughput }}
	case "goodput":
		return metric{unit: "req/s", limited: true, get: func(m bench.Measurement) *float64 { return m.Goodput }}
	case "goodput_share":
		return metric{unit: "of all issued", limited: true, get: func(m bench.Measurement) *float64 { return m.GoodputShare }}
	}
	latency, of, _ := strings.Cut(name, "_")
	return metric{unit: "ms", low: true, get: func(m bench.Measurement) *float64 { return pointOf(latencyOf(m, latency), of) }}
}

func latencyOf(m bench.Measurement, name string) bench.Dist {
	switch name {
	case "ttft":
		return m.TTFT
	case "tpot":
		return m.TPOT
	case "itl":
		return m.ITL
	case "e2e":
		return m.E2E
	default:
		return bench.Dist{}
	}
}

// pointOf is one point of a distribution, in milliseconds.
func pointOf(d bench.Dist, name string) *float64 {
	switch name {
	case "p50":
		return d.P50
	case "p90":
		return d.P90
	case "p95":
		return d.P95
	case "p99":
		return d.P99
	case "mean":
		return d.Mean
	case "max":
		return d.Max
	default:
		return nil
	}
}

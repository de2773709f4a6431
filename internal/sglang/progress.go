package sglang

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	barCount   = regexp.MustCompile(`\b(\d{1,9})/(\d{1,9}) \[`)
	barPercent = regexp.MustCompile(`\b(\d{1,3})%`)
)

// barProgress reads how far a progress bar is, 0 to 1, when it is one of the
// two that belong to this phase: shards of weights, batches of graphs.
func barProgress(bar string, phase PhaseName) *float64 {
	switch {
	case phase == PhaseWeights && strings.Contains(bar, "shards"):
	case phase == PhaseGraphs && strings.Contains(bar, "Capturing"):
	default:
		return nil
	}
	if m := barCount.FindStringSubmatch(bar); m != nil {
		n, _ := strconv.ParseFloat(m[1], 64)
		total, _ := strconv.ParseFloat(m[2], 64)
		if total > 0 && n <= total {
			return new(n / total)
		}
	}
	if m := barPercent.FindStringSubmatch(bar); m != nil {
		percent, _ := strconv.ParseFloat(m[1], 64)
		return new(min(percent/100, 1))
	}
	return nil
}

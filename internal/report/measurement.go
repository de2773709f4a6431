package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sweep/internal/bench"
	"sweep/internal/verdict"
)

// measurementText writes every figure of one level.
func measurementText(p *printer, m bench.Measurement) {
	p.para(bold, "  ", fmt.Sprintf("%s output tok/s", number(m.OutputThroughput)))
	parts := []string{
		number(m.PerStream) + " output tok/s per stream",
		number(m.PeakOutputThroughput) + " output tok/s in the best second",
		number(m.InputThroughput) + " input tok/s",
		number(m.TotalThroughput) + " total tok/s",
		number(m.RequestThroughput) + " req/s",
	}
	if m.Goodput != nil {
		good := "goodput " + number(m.Goodput) + " req/s"
		if m.GoodputShare != nil {
			good += fmt.Sprintf(" (%s %% of issued)", digits(*m.GoodputShare*100))
		}
		parts = append(parts, good)
	}
	if s := m.Steady; s != nil {
		parts = append(parts, fmt.Sprintf("steady state %s output tok/s over %s s", number(s.OutputThroughput), digits(s.Seconds)))
	}
	p.para(plain, "  ", strings.Join(parts, " · "))
	distributions(p, m)
	p.para(plain, "  ", fmt.Sprintf("requests: %d asked, %d issued, %d completed, %d failed (%d inside a stream), %d with too few output tokens",
		m.Asked, m.Issued, m.Completed, m.Failed, m.InStream, m.Short))
	for _, text := range slices.Sorted(maps.Keys(m.Errors)) {
		p.para(red, "    ", fmt.Sprintf("%d× %s", m.Errors[text], text))
	}
	cached := unknown
	if m.CachedTokens != nil {
		cached = thousands(fmt.Sprint(*m.CachedTokens))
	}
	p.para(plain, "  ", fmt.Sprintf("tokens: input %s (asked %s, cached %s), output %s (asked %s)", thousands(fmt.Sprint(m.InputTokens)),
		thousands(fmt.Sprint(m.AskedInputTokens)), cached, thousands(fmt.Sprint(m.OutputTokens)), thousands(fmt.Sprint(m.AskedOutputTokens))))
	p.para(plain, "  ", fmt.Sprintf("window: %s s from %s, ended: %s · in flight: %s on average, %d at most",
		digits(m.Window), m.Started.Local().Format("15:04:05 MST"), m.Ended, number(m.ConcurrencyMean), m.ConcurrencyPeak))
	p.para(dim, "  ", fmt.Sprintf("client: %s %s, attempt %d · CPU %s of its cores · slots filled %s · warm-up %d requests · flush: %s",
		m.Tool, m.ToolVersion, m.Attempt, share(m.Client.CPUShare), share(m.Client.SlotShare), m.Warmup, m.Flush))
}

func share(v *float64) string {
	if v == nil {
		return unknown
	}
	return digits(*v*100) + " %"
}

func distributions(p *printer, m bench.Measurement) {
	heads := []string{"p50", "p90", "p95", "p99", "max", "mean", "std"}
	line := "  " + padRight("ms", 10)
	for _, h := range heads {
		line += padLeft(h, 10)
	}
	p.line(p.paint(dim, line+padLeft("n", 9)))
	for _, d := range []struct {
		name string
		dist bench.Dist
	}{{"TTFT", m.TTFT}, {"TTFT text", m.TTFTText}, {"TPOT", m.TPOT}, {"ITL", m.ITL}, {"chunk gap", m.ChunkGap}, {"E2E", m.E2E}} {
		line := "  " + padRight(d.name, 10)
		for _, v := range []*float64{d.dist.P50, d.dist.P90, d.dist.P95, d.dist.P99, d.dist.Max, d.dist.Mean, d.dist.Std} {
			line += padLeft(number(v), 10)
		}
		p.line(line + padLeft(thousands(fmt.Sprint(d.dist.N)), 9))
	}
}

func findingsText(p *printer, findings []verdict.Finding, run, key string) {
	for _, f := range findings {
		if f.Run != run || f.Key != key {
			continue
		}
		text := string(f.Grade) + ", " + f.Code + ": " + f.Seen
		if f.Limit != "" {
			text += " (limit: " + f.Limit + ")"
		}
		p.para(gradeStyle(string(f.Grade)), "  "+gradeMark(string(f.Grade))+" ", text)
	}
}

package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sweep/internal/bench"
	"sweep/internal/stats"
	"sweep/internal/verdict"
)

// measurementText writes every figure of one level.
func measurementText(p *printer, m bench.Measurement) {
	head, parts := stats.Figure(m.Headline())+" output tok/s", []string(nil)
	if m.Ended == bench.AtMaxLevel {
		head += " in steady state: max-level ended the level"
		parts = append(parts, stats.Figure(m.OutputThroughput)+" output tok/s over the whole window")
	}
	p.para(bold, "  ", head)
	parts = append(parts,
		stats.Figure(m.PerStream)+" output tok/s per stream",
		stats.Figure(m.PeakOutputThroughput)+" output tok/s in the best second",
		stats.Figure(m.InputThroughput)+" input tok/s",
		stats.Figure(m.TotalThroughput)+" total tok/s",
		stats.Figure(m.RequestThroughput)+" req/s",
	)
	if m.Goodput != nil {
		good := "goodput " + stats.Figure(m.Goodput) + " req/s"
		if m.GoodputShare != nil {
			good += fmt.Sprintf(" (%s of issued)", share(m.GoodputShare))
		}
		if m.SLO != (bench.SLO{}) {
			good += " with " + m.SLO.String()
		}
		parts = append(parts, good)
	}
	if s := m.Steady; s != nil {
		parts = append(parts, fmt.Sprintf("steady state %s output tok/s over %s s", stats.Figure(s.OutputThroughput), stats.Digits(s.Seconds)))
	}
	p.para(plain, "  ", strings.Join(parts, " · "))
	distributions(p, m)
	p.para(plain, "  ", fmt.Sprintf("requests: %s asked, %s issued, %s completed, %s failed (%s inside a stream), %s cut off, %s with too few output tokens",
		stats.Count(m.Asked), stats.Count(m.Issued), stats.Count(m.Completed), stats.Count(m.Failed), stats.Count(m.InStream), stats.Count(m.Cut), stats.Count(m.Short)))
	for _, text := range slices.Sorted(maps.Keys(m.Errors)) {
		p.para(red, "    ", stats.Count(m.Errors[text])+"× "+text)
	}
	p.para(plain, "  ", fmt.Sprintf("tokens: input %s (asked %s, cached %s), output %s (asked %s)", counted(m.InputTokens),
		stats.Count(m.AskedInputTokens), counted(m.CachedTokens), stats.Count(m.OutputTokens), stats.Count(m.AskedOutputTokens)))
	p.para(plain, "  ", fmt.Sprintf("window: %s s from %s, ended: %s · in flight: %s on average, %s at most",
		stats.Digits(m.Window), m.Started.Local().Format("15:04:05 MST"), m.Ended, stats.Figure(m.ConcurrencyMean), stats.Count(m.ConcurrencyPeak)))
	p.para(dim, "  ", fmt.Sprintf("client: %s %s, attempt %d · CPU %s of its cores · slots filled %s · warm-up %s · flush: %s",
		m.Tool, m.ToolVersion, m.Attempt, share(m.Client.CPUShare), share(m.Client.SlotShare), count(m.Warmup, "request"), m.Flush))
}

// counted is a number of tokens that the server may not have told.
func counted(n *int64) string {
	if n == nil {
		return unknown
	}
	return stats.Count(*n)
}

func share(v *float64) string {
	if v == nil {
		return unknown
	}
	return stats.Digits(*v*100) + " %"
}

func distributions(p *printer, m bench.Measurement) {
	rows := [][]string{{"ms", "p50", "p90", "p95", "p99", "max", "mean", "std", "n"}}
	for _, d := range []struct {
		name string
		dist bench.Dist
	}{{"TTFT", m.TTFT}, {"TTFT text", m.TTFTText}, {"TPOT", m.TPOT}, {"ITL", m.ITL}, {"chunk gap", m.ChunkGap}, {"E2E", m.E2E}} {
		row := []string{d.name}
		for _, v := range []*float64{d.dist.P50, d.dist.P90, d.dist.P95, d.dist.P99, d.dist.Max, d.dist.Mean, d.dist.Std} {
			row = append(row, stats.Figure(v))
		}
		row = append(row, stats.Count(d.dist.N))
		if last := rows[len(rows)-1]; slices.Equal(last[1:], row[1:]) && (d.name == "TTFT text" || d.name == "chunk gap") {
			last[0] += ", " + strings.TrimPrefix(d.name, "TTFT ") // one event a token: the same figures
			continue
		}
		rows = append(rows, row)
	}
	grid(p, rows)
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

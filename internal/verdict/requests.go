package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// requestsFailed counts for itself: tools are known to report no failures
// while answers are missing (a client that drops timeouts, a result file
// without the field).
func requestsFailed(x measured, l Limits) *sight {
	if x.m.Issued == 0 {
		return &sight{Invalid, fmt.Sprintf("none of the %d requests was sent", x.m.Asked), "every request is sent"}
	}
	failed := x.m.Issued - x.m.Completed - x.m.Cut
	s := share(failed, x.m.Issued, l.FailedShare, "requests failed")
	if s != nil && len(x.m.Errors) > 0 {
		s.seen += ": " + mostFrequent(x.m.Errors, 2)
	}
	return s
}

// errorInStream looks at errors inside an answer that began with status 200,
// which tools that look at the status alone count as success.
func errorInStream(x measured, l Limits) *sight {
	return share(x.m.InStream, x.m.Issued, l.FailedShare, "requests broke off with an error inside a stream that had begun well")
}

// tokensShort trusts observed lengths only: servers are known to accept
// ignore_eos and to stop early all the same.
func tokensShort(x measured, l Limits) *sight {
	return share(x.m.Short, x.m.Completed, l.ShortShare, "completed requests have fewer output tokens than asked")
}

// share grades n of all: suspect from one on, invalid above the limit.
func share(n, all int, limit float64, what string) *sight {
	if n <= 0 || all <= 0 {
		return nil
	}
	part := float64(n) / float64(all)
	s := &sight{Suspect, fmt.Sprintf("%d of %d %s (%s)", n, all, what, percent(part)), "0 %"}
	if part > limit {
		s.grade, s.limit = Invalid, "at most "+percent(limit)
	}
	return s
}

// inputMismatch compares what the server counted with what was sent, request by
// request: a token too many in one and one too few in another leave the totals
// equal. Those are told beside it.
func inputMismatch(x measured, _ Limits) *sight {
	m := x.m
	if m.Level.Workload.Text != "" || m.Mismatch == nil || *m.Mismatch == 0 {
		return nil
	}
	counted := "n/a"
	if m.InputTokens != nil {
		counted = strconv.FormatInt(*m.InputTokens, 10)
	}
	return &sight{Suspect, fmt.Sprintf("the server counted another prompt length than was sent in %d of %d completed requests: "+
		"%s input tokens in these, %d drawn for all %d prompts", *m.Mismatch, m.Completed, counted, m.AskedInputTokens, m.Asked),
		"equal: token ids are sent, so nothing can change their number"}
}

// cachedImported is the limit for bench_serving, whose own prompts share
// more: its warm-up request is the first request of the workload.
const cachedImported = 0.05

func cacheHit(x measured, l Limits) *sight {
	m := x.m
	if m.CachedTokens == nil || m.InputTokens == nil || *m.InputTokens <= 0 {
		return nil
	}
	limit := l.CachedShare
	if m.Tool == "bench_serving" {
		limit = max(limit, cachedImported)
	}
	part := float64(*m.CachedTokens) / float64(*m.InputTokens)
	if part <= limit {
		return nil
	}
	return &sight{Suspect, fmt.Sprintf("%d of %d input tokens came from the prefix cache (%s)", *m.CachedTokens, *m.InputTokens, percent(part)),
		"at most " + percent(limit)}
}

// mostFrequent lists the n most frequent errors.
func mostFrequent(errors map[string]int, n int) string {
	texts := slices.SortedFunc(maps.Keys(errors), func(a, b string) int {
		return cmp.Or(cmp.Compare(errors[b], errors[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, text := range texts[:min(n, len(texts))] {
		parts = append(parts, fmt.Sprintf("%d× %.120s", errors[text], text))
	}
	if len(texts) > n {
		parts = append(parts, fmt.Sprintf("%d other kinds", len(texts)-n))
	}
	return strings.Join(parts, ", ")
}

func percent(share float64) string { return fmt.Sprintf("%.3g %%", share*100) }

package report

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"sweep/internal/bench"
	"sweep/internal/sweep"
	"sweep/internal/verdict"
)

// failures lists why starts failed, also those that a later attempt made good.
// What failed in the same way in several repeats is said once.
func (b *builder) failures() []Failure {
	var list []Failure
	for _, c := range b.cells {
		if b.in.Subjects[c.subject].Hidden {
			continue
		}
		for i, run := range c.runs {
			for k, record := range run.Records {
				list = b.unmeasured(list, c, i, record)
				if record.Failure == nil || interrupted(record) {
					continue
				}
				f := b.failureOf(*record.Failure)
				f.Name = b.rowName(c)
				f.Retried = slices.ContainsFunc(run.Records[k+1:], func(r sweep.Record) bool { return r.Status == sweep.StatusDone })
				where := fmt.Sprintf("%s, attempt %d", repeatOf(c.runs, i), record.Attempt)
				at := slices.IndexFunc(list, func(g Failure) bool {
					return g.Name == f.Name && g.Cause == f.Cause && g.Phase == f.Phase && g.Level == f.Level && g.Exit == f.Exit && g.Line == f.Line && g.Retried == f.Retried
				})
				if at < 0 {
					list = append(list, f)
					at = len(list) - 1
				}
				list[at].Where = append(list[at].Where, where)
				if record.Failure.Log != "" {
					list[at].Logs = append(list[at].Logs, record.Failure.Log)
				}
			}
		}
	}
	return list
}

// codeNotMeasured is the failure of a bench that could not measure a level
// though the server served.
const codeNotMeasured = "not-measured"

// digits are what differs between reasons that are the same otherwise.
var digits = regexp.MustCompile(`[0-9]+`)

// unmeasured adds the levels that the bench of an attempt could not measure.
// One reason at several levels and repeats is said once.
func (b *builder) unmeasured(list []Failure, c cell, i int, record sweep.Record) []Failure {
	run := c.runs[i]
	where := fmt.Sprintf("%s, attempt %d", repeatOf(c.runs, i), record.Attempt)
	context := b.contextNeeded(record.Unmeasured)
	for _, u := range record.Unmeasured {
		f := Failure{Name: b.rowName(c), Cause: codeNotMeasured, Level: b.levelOf(u.Key), Line: u.Reason,
			Hint: "read the log, which is that of the load generator: the server served on", Retried: measurementOf(run, u.Key) != nil}
		if tooLong(u.Reason) {
			f.Hint = "raise context-length to at least input + output" + context + ", or shorten the workload"
		}
		kind := digits.ReplaceAllString(f.Line, "0")
		at := slices.IndexFunc(list, func(g Failure) bool {
			return g.Name == f.Name && g.Cause == f.Cause && g.Retried == f.Retried && digits.ReplaceAllString(g.Line, "0") == kind
		})
		if at < 0 {
			list = append(list, f)
			at = len(list) - 1
		}
		g := &list[at]
		if !slices.Contains(g.Where, where) {
			g.Where = append(g.Where, where)
		}
		if !slices.Contains(strings.Split(g.Level, ", "), f.Level) {
			g.Level += ", " + f.Level
		}
		g.Logs = append(g.Logs, benchLog(run, record.Attempt, u.Key))
	}
	return list
}

// tooLong tells whether a level was refused since its requests are longer than
// the model's context, in sglang's words.
func tooLong(reason string) bool {
	return strings.Contains(reason, "longer than the model's context length") || strings.Contains(reason, "exceeds the model's maximum context length")
}

// contextNeeded is how long the longest request of refused levels may be, as
// " (384 tokens)"; "" where the levels are not known.
func (b *builder) contextNeeded(refused []sweep.Unmeasured) string {
	most := 0
	for _, u := range refused {
		for _, l := range b.in.Levels {
			if l.Key() == u.Key && tooLong(u.Reason) && l.Workload.Text == "" {
				most = max(most, l.Workload.InputLen+l.Workload.OutputLen)
			}
		}
	}
	if most == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d tokens)", most)
}

// benchLog is where the log of a level's load generator is, below the data
// directory.
func benchLog(run sweep.Run, attempt int, key string) string {
	return path.Join("runs", run.ID, run.Name, fmt.Sprintf("attempt-%d", attempt), "levels", key, "bench.log")
}

func (b *builder) failureOf(f sweep.Failure) Failure {
	shown := Failure{
		Cause: cmp.Or(f.Cause.Code, "unknown"),
		Class: string(f.Cause.Class),
		Phase: string(f.Cause.Phase),
		Level: b.levelOf(f.Level),
		Exit:  f.Exit,
		Line:  f.Cause.Line,
		Hint:  f.Cause.Hint,
	}
	if shown.Line == "" && len(f.Excerpt) > 0 {
		shown.Line = f.Excerpt[0]
	}
	return shown
}

// levelOf shows a level's key as people know it, as far as anything tells.
func (b *builder) levelOf(key string) string {
	for _, l := range b.in.Levels {
		if l.Key() == key {
			return l.String()
		}
	}
	for _, c := range b.cells {
		for _, run := range c.runs {
			if m := measurementOf(run, key); m != nil {
				return m.Level.String()
			}
		}
	}
	if m := loadOfKey.FindStringSubmatch(key); m != nil {
		return map[string]string{"c": "c=", "b": "burst="}[m[1]] + m[2]
	}
	return key
}

// loadOfKey is how the key of a level begins that has a concurrency or a burst.
var loadOfKey = regexp.MustCompile(`^([cb])([0-9]+)-`)

// codeLevelFailed is the failure of a level whose server lived on and logged
// nothing that explains it.
const codeLevelFailed = "level-failed"

// interrupted tells that an attempt was stopped from outside. What may be
// recorded as its failure then is a consequence, and none of the server's: the
// line of a level that failed says how its measurement ended.
func interrupted(r sweep.Record) bool {
	return r.Status == sweep.StatusInterrupted ||
		r.Failure != nil && r.Failure.Cause.Code == codeLevelFailed && strings.Contains(r.Failure.Cause.Line, string(bench.Interrupted))
}

// howFailed says in a few words what failed, and when.
func howFailed(f sweep.Failure) string {
	s := "failed: " + cmp.Or(f.Cause.Code, "unknown cause")
	if f.Cause.Phase != "" {
		s += " (" + string(f.Cause.Phase) + ")"
	}
	return s
}

// whyInvalid says in a few words why a measurement is invalid: what ended it
// early, else the rules that it broke.
func (b *builder) whyInvalid(run sweep.Run, m bench.Measurement) string {
	for _, r := range run.Records {
		if r.Attempt == m.Attempt && r.Failure != nil && r.Failure.Level == m.Key && !interrupted(r) {
			return howFailed(*r.Failure)
		}
	}
	switch m.Ended {
	case bench.Interrupted:
		return "interrupted"
	case bench.ServerGone:
		return "the server was gone"
	case bench.Stalled:
		return "stalled"
	}
	var codes []string
	for _, f := range b.in.Findings {
		if f.Run == run.Name && (f.Key == "" || f.Key == m.Key) && f.Grade == verdict.Invalid && !slices.Contains(codes, f.Code) {
			codes = append(codes, f.Code)
		}
	}
	return strings.Join(codes, ", ")
}

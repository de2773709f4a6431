package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"sweep/internal/bench"
	"sweep/internal/store"
	"sweep/internal/sweep"
	"sweep/internal/verdict"
)

// action is what to do about one planned run.
type action int

const (
	fresh  action = iota // a new run
	resume               // an existing run goes on: the missing levels are measured
	reuse                // everything is there
	leave                // it failed in this night already
)

// decision is the action for a planned run, the run it concerns, and why.
type decision struct {
	action   action
	ref      store.RunRef
	attempt  int // to make, or to take up again
	reattach bool
	why      string
	missing  []string // level keys to measure
	have     []string // level keys kept
	invalid  int      // how many of the kept ones are invalid
}

// starts tells whether a server is started for the run.
func (d decision) starts() bool { return d.action == fresh || d.action == resume }

// decide looks for what was measured before: in this night first, then in any
// other under the same ID, repeat and host.
func (n *nightRun) decide(ctx context.Context, p sweep.PlannedRun) (decision, error) {
	var keys []string
	for _, l := range n.plan.LevelsOf(p) {
		keys = append(keys, l.Key())
	}
	var why []string
	if ref, ok := n.mapped[p.Ordinal]; ok {
		run, problems, err := n.Store.LoadRun(ref)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // cut off before its first record
			return decision{}, fmt.Errorf("read run %s: %w", ref.Run, err)
		}
		if why = unreadable(run, problems, n.elsewhere(ctx, run, p)); why == nil {
			d := n.take(run, ref, keys)
			if n.ended[p.Ordinal] == string(sweep.StatusFailed) && d.action != reuse {
				d.action, d.why = leave, "failed earlier in this night; run the sweep again after its end to try once more"
			}
			return d, nil
		}
	}
	runs, problems, err := n.Store.RunsOf(p.Config)
	if err != nil {
		return decision{}, fmt.Errorf("read the runs of %s: %w", p.Config, err)
	}
	for _, run := range slices.Backward(runs) {
		if len(run.Records) == 0 || run.Records[0].Repeat != p.Repeat || run.Name == n.mapped[p.Ordinal].Run {
			continue
		}
		unfit := unreadable(run, problems, n.elsewhere(ctx, run, p))
		if bad := n.unfit(run, keys); bad != "" {
			unfit = append(unfit, bad)
		}
		if unfit == nil {
			return n.take(run, store.RunRef{ID: p.Config, Run: run.Name}, keys), nil
		}
		why = append(why, unfit...)
	}
	return decision{action: fresh, attempt: 1, ref: store.RunRef{ID: p.Config}, missing: keys, why: anew(why)}, nil
}

// unreadable adds to why a run is not built upon that part of it cannot be
// read: nothing is written over what a newer sweep or a broken disk left.
func unreadable(run sweep.Run, problems []store.Problem, why []string) []string {
	for _, p := range problems {
		if strings.Contains(p.Path, run.Name) {
			return append(why, fmt.Sprintf("run %s cannot be read whole (%s)", run.Name, p))
		}
	}
	return why
}

// elsewhere says what differs between where a run was measured and here; nil
// when it may stand for a run here.
func (n *nightRun) elsewhere(ctx context.Context, run sweep.Run, p sweep.PlannedRun) []string {
	if len(run.Records) == 0 {
		return nil
	}
	last := run.Records[len(run.Records)-1]
	if diff := sweep.HostDiff(last.Fingerprint.Host, n.Facts); diff != "" {
		return []string{fmt.Sprintf("run %s is from another host or setup (%s)", run.Name, diff)}
	}
	if c := n.plan.Configuration(p.Config); c != nil {
		made := n.made(ctx, *c)
		if diff := sweep.PackageDiff(last.Fingerprint.Packages, made.Packages); diff != "" {
			return []string{fmt.Sprintf("run %s is of other packages (%s)", run.Name, diff)}
		}
		if diff := sweep.MadeDiff(last.Fingerprint, made); diff != "" {
			return []string{fmt.Sprintf("run %s is of another source, container or model (%s)", run.Name, diff)}
		}
	}
	return nil
}

// anew says why a run is begun although there are others.
func anew(why []string) string {
	if len(why) == 0 {
		return ""
	}
	return "anew: " + strings.Join(why, "; ")
}

// take decides how an existing run goes on.
func (n *nightRun) take(run sweep.Run, ref store.RunRef, keys []string) decision {
	d := decision{action: resume, ref: ref, attempt: 1}
	findings := verdict.Judge([]sweep.Run{run}, verdict.Limits{})
	have := map[string]bool{}
	for _, m := range run.Measurements {
		have[m.Key] = m.Usable()
	}
	for _, k := range keys {
		switch {
		case !have[k]:
			d.missing = append(d.missing, k)
		case verdict.Of(findings, run.Name, k) == verdict.IsInvalid:
			d.invalid++
			fallthrough
		default:
			d.have = append(d.have, k)
		}
	}
	if len(run.Records) == 0 {
		return d
	}
	last := run.Records[len(run.Records)-1]
	d.attempt = last.Attempt
	d.reattach = last.Status == sweep.StatusRunning
	if !d.reattach {
		d.attempt++
	}
	if len(d.missing) == 0 {
		d.action, d.why = reuse, fmt.Sprintf("same ID, host and levels, measured %s in run %s", last.Started.Format("2006-01-02 15:04"), run.Name)
		return d
	}
	why := map[sweep.Status]string{sweep.StatusFailed: "it failed last time", sweep.StatusRunning: "its runner died",
		sweep.StatusInterrupted: "it was interrupted", sweep.StatusDone: "there are levels it does not have"}[last.Status]
	if last.Failure != nil {
		why += " (" + last.Failure.Cause.Code + ")"
	}
	d.why = fmt.Sprintf("goes on: %s; %d of %d levels are there", why, len(d.have), len(keys))
	return d
}

// unfit says why a run of an earlier night is not built upon: one of the
// planned levels was judged invalid, or was cut at another max-level.
func (n *nightRun) unfit(run sweep.Run, keys []string) string {
	findings := verdict.Judge([]sweep.Run{run}, verdict.Limits{})
	for _, m := range run.Measurements {
		switch {
		case !slices.Contains(keys, m.Key) || !m.Usable():
		case verdict.Of(findings, run.Name, m.Key) == verdict.IsInvalid:
			return fmt.Sprintf("run %s is invalid at %s", run.Name, m.Level)
		case m.Ended == bench.AtMaxLevel && m.MaxLevel != n.plan.MaxLevel:
			return fmt.Sprintf("run %s stopped %s at a max-level of %s", run.Name, m.Level, m.MaxLevel)
		}
	}
	return ""
}

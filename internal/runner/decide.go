package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

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
}

// decide looks for what was measured before: in this night first, then in any
// other under the same ID, repeat and host.
func (n *nightRun) decide(p sweep.PlannedRun) (decision, error) {
	keys := make([]string, len(n.plan.Levels))
	for i, l := range n.plan.Levels {
		keys[i] = l.Key()
	}
	if ref, ok := n.mapped[p.Ordinal]; ok {
		run, _, err := n.Store.LoadRun(ref)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // cut off before its first record
			return decision{}, fmt.Errorf("read run %s: %w", ref.Run, err)
		}
		d := n.take(run, ref, keys, false)
		if how := n.ended[p.Ordinal]; how == string(sweep.StatusFailed) && d.action != reuse {
			d.action, d.why = leave, "failed earlier in this night; run the sweep again after its end to try once more"
		}
		return d, nil
	}
	runs, _, err := n.Store.RunsOf(p.Config)
	if err != nil {
		return decision{}, fmt.Errorf("read the runs of %s: %w", p.Config, err)
	}
	var why []string
	for i := len(runs) - 1; i >= 0; i-- {
		run := runs[i]
		if len(run.Records) == 0 || run.Records[0].Repeat != p.Repeat {
			continue
		}
		last := run.Records[len(run.Records)-1]
		if diff := sweep.HostDiff(last.Fingerprint.Host, n.Facts); diff != "" {
			why = append(why, fmt.Sprintf("run %s is from another host or setup (%s)", run.Name, diff))
			continue
		}
		if bad := n.invalid(run, keys); bad != "" {
			why = append(why, fmt.Sprintf("run %s is invalid at %s", run.Name, bad))
			continue
		}
		return n.take(run, store.RunRef{ID: p.Config, Run: run.Name}, keys, true), nil
	}
	return decision{action: fresh, attempt: 1, ref: store.RunRef{ID: p.Config, Run: n.Store.NewRunName(time.Now())},
		missing: keys, why: strings.Join(why, "; ")}, nil
}

// take decides how an existing run goes on.
func (n *nightRun) take(run sweep.Run, ref store.RunRef, keys []string, elsewhere bool) decision {
	d := decision{ref: ref, attempt: 1}
	have := map[string]bool{}
	for _, m := range run.Measurements {
		if m.Usable() {
			have[m.Key] = true
		}
	}
	for _, k := range keys {
		if have[k] {
			d.have = append(d.have, k)
		} else {
			d.missing = append(d.missing, k)
		}
	}
	if len(run.Records) > 0 {
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
		switch last.Status {
		case sweep.StatusFailed:
			d.why = "it failed last time"
			if last.Failure != nil {
				d.why += ": " + last.Failure.Cause.Code
			}
		case sweep.StatusRunning:
			d.why = "its runner died"
		case sweep.StatusInterrupted:
			d.why = "it was interrupted"
		case sweep.StatusDone:
			d.why = "the file asks for more levels"
		}
	}
	d.action = resume
	if elsewhere && len(d.have) > 0 {
		d.why += fmt.Sprintf("; %d of %d levels are kept", len(d.have), len(keys))
	}
	return d
}

// invalid names the first of the planned levels that was measured and judged
// invalid: such a run is not built upon.
func (n *nightRun) invalid(run sweep.Run, keys []string) string {
	findings := verdict.Judge([]sweep.Run{run}, verdict.Limits{})
	for _, m := range run.Measurements {
		for _, k := range keys {
			if m.Key == k && m.Usable() && verdict.Of(findings, run.Name, k) == verdict.IsInvalid {
				return m.Level.String()
			}
		}
	}
	return ""
}

package check

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"sweep/internal/launch"
)

// local is how a plan's own host is called where it is the asking machine.
const local = "local"

// lock says whether a sweep runs here, and what others left: dead ones, which
// the next run ends, and servers that were launched to stay, which it does not.
func (c *checker) lock(ctx context.Context, owner string, held bool) []Result {
	if held {
		follow := "`sweep status` lists it"
		if cmp.Or(c.plan.Host, local) != local {
			follow = "`sweep attach` follows it"
		}
		return []Result{{Host, Fail, "lock", "another sweep is running here (" + clip(owner) + ")", "wait for it (" + follow + "), or end it with `sweep stop NAME`"}}
	}
	results := []Result{{Host, OK, "lock", "no sweep runs here", ""}}
	if c.rtErr != nil {
		return results
	}
	list, err := c.rt.List(ctx)
	if err != nil {
		return append(results, Result{Host, Warn, "leftovers", "cannot be listed: " + clip(err.Error()), ""})
	}
	var names []string
	for _, in := range append(list, c.elsewhere(ctx)...) {
		switch {
		case in.Labels["sweep"] == checkLabel && time.Since(in.Created) < makeTime:
			// of a check that is under way, this one or another
		case c.o.Kept != nil && c.o.Kept(in):
			results = append(results, c.staying(in))
		default:
			names = append(names, in.Name)
		}
	}
	if len(names) > 0 {
		results = append(results, Result{Host, Warn, "leftovers", "a dead sweep left " + few(names, 3), "the next `sweep run` ends them; `sweep clean` shows them"})
	}
	return results
}

// elsewhere are the instances in the host's other runtimes. One that does not
// answer is passed over, as by `sweep run`: the GPUs tell whether it matters.
func (c *checker) elsewhere(ctx context.Context) []launch.Instance {
	if c.o.Others == nil {
		return nil
	}
	var all []launch.Instance
	for _, rt := range c.o.Others(ctx) {
		if list, err := launch.Bounded(rt).List(ctx); err == nil {
			all = append(all, list...)
		}
	}
	return all
}

// staying judges an instance that was launched to stay: `sweep run` does not
// start beside one that may hold the GPUs.
func (c *checker) staying(in launch.Instance) Result {
	remedy := fmt.Sprintf("`sweep clean %s %s --yes` ends it", cmp.Or(c.plan.Host, local), in.Name)
	if onlySimulated(c.plan) {
		return Result{Host, Warn, "kept", in.Name + " was launched to stay; it may disturb what is measured here", remedy}
	}
	return Result{Host, Fail, "kept", in.Name + " was launched to stay and may hold the GPUs: `sweep run` refuses to start beside it", remedy}
}

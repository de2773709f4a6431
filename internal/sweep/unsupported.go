package sweep

import (
	"cmp"
	"fmt"

	"sweep/internal/bench"
)

// Unsupported says what this build cannot carry out of a plan, one sentence
// each; nil: it can carry out all of it. A plan is for looking at, so that
// planning accepts the whole language; a run refuses before anything starts.
func (p *Plan) Unsupported() []string {
	var reasons []string
	say := func(format string, args ...any) { reasons = append(reasons, fmt.Sprintf(format, args...)) }
	if host := cmp.Or(p.Host, "local"); host != "local" {
		say("host: %s is another machine, and sweep cannot move itself there yet; run it on that machine with host: local.", Printable(host))
	}
	said := map[string]bool{}
	once := func(key, format string, args ...any) {
		if !said[key] {
			said[key] = true
			say(format, args...)
		}
	}
	if p.Tool != "" && p.Tool != bench.Tool {
		say("bench: the tool %s cannot be used yet, only native can.", Printable(p.Tool))
	}
	for _, l := range p.Levels {
		if l.Workload.Text != "" {
			once("text "+l.Workload.Name, "bench: the workload %s is a file of texts, and only random token ids can be sent yet.", Printable(l.Workload.Name))
		}
		if l.Mode == bench.Open {
			once("rate", "bench: levels with a rate (%s) cannot be measured yet, only concurrency and burst can.", l)
		}
	}
	if p.Night.Deadline != nil {
		say("night: the deadline %s cannot be kept yet; the night would go on to its end.", p.Night.Deadline)
	}
	if p.Night.Cooldown > 0 {
		say("night: the host cannot be given a cooldown between runs yet.")
	}
	return reasons
}

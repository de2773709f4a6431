package sweep

import (
	"fmt"

	"sweep/internal/bench"
)

// Unsupported says what this build cannot carry out of a plan, one sentence
// each; nil: it can carry out all of it. A plan is for looking at, so that
// planning accepts the whole language; a run refuses before anything starts.
func (p *Plan) Unsupported() []string {
	var reasons []string
	say := func(format string, args ...any) { reasons = append(reasons, fmt.Sprintf(format, args...)) }
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
	}
	return reasons
}

package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sweep/internal/sglang"
)

// faults is what a server acts out on request. The zero value is a sane server.
type faults struct {
	exit      *failure         // dies of this, in the failure's phase
	exitAfter int              // serving: once so many requests have their first token
	hang      sglang.PhaseName // stands still for ever in this phase
	flood     int              // log lines a second, from the start
	orphan    string           // "nccl" or "http": the port that a child keeps

	early      int           // status of what generates until the start is over, with the port open and healthy from the first moment; 1: waits
	slowHealth time.Duration // on top of what /health takes
	healthy    bool          // /health is 200 whatever happens

	stallAfter    int  // no token any more after so many requests; 0: never
	stallWatchdog bool // and the watchdog ends it
	refuseAbove   int  // 503 for more requests at once; 0: never
	slowFirst     int  // so many requests at half the speed, with compiler lines
	drift         float64

	spoil   spoil   // what happens to streams
	share   float64 // of the requests
	after   int     // output tokens before
	garbage string
	short   int     // output tokens at most; 0: as asked
	prompts float64 // reported prompt tokens per real one; 0: the truth

	foreign string // claims to be this model
	ignored bool   // the flags are not applied
	altered map[string]string
}

// spoil is a way for a stream to go wrong.
type spoil int

const (
	unspoilt   spoil = iota
	errorEvent       // an error object in the stream of status 200
	abortEvent       // a finish reason "abort"
	cutOff           // the connection's body ends without [DONE]
	emptyBody        // status 200 and nothing
)

// faultKind is a line of the table of faults.
type faultKind struct {
	name string
	arg  string // syntax of what follows the name, "" for nothing
	what string
	of   string // the case it stands for
	set  func(f *faults, arg string) error
}

// parse reads one --fault NAME[:ARG] into f.
func (f *faults) parse(v string) error {
	switch v { // the names of the first release
	case "exit-load":
		v = "exit:weights:cuda-oom"
	case "die-under-load":
		v = "exit:serving:illegal-access"
	}
	name, arg, _ := strings.Cut(v, ":")
	kinds := faultKinds()
	i := slices.IndexFunc(kinds, func(k faultKind) bool { return k.name == name })
	if i < 0 {
		var names []string
		for _, k := range kinds {
			names = append(names, k.name)
		}
		return fmt.Errorf("invalid choice: %s (choose from %s)", quoted(name), strings.Join(names, ", "))
	}
	if arg != "" && kinds[i].arg == "" {
		return fmt.Errorf("%s takes no argument", name)
	}
	if err := kinds[i].set(f, arg); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// setExit reads "[PHASE:]CAUSE[-rankN]" and, for a server that serves, ":N"
// requests behind it.
func (f *faults) setExit(arg string) error {
	parts := strings.Split(arg, ":")
	var phase sglang.PhaseName
	if p, err := parsePhase(parts[0]); err == nil {
		phase, parts = p, parts[1:]
	}
	if len(parts) == 0 || len(parts) > 2 {
		return fmt.Errorf("want [PHASE:]CAUSE[-rankN][:REQUESTS], causes are %s", strings.Join(causeNames(), ", "))
	}
	name, rank := parts[0], 0
	if before, n, ok := strings.Cut(name, "-rank"); ok {
		var err error
		if rank, err = strconv.Atoi(n); err != nil || rank < 0 {
			return fmt.Errorf("rank %q is not a number", n)
		}
		name = before
	}
	c, err := findCause(name)
	if err != nil {
		return err
	}
	if phase == "" {
		phase = c.phase
	}
	f.exit, f.exitAfter = &failure{cause: c, phase: phase, rank: rank}, diesAfter
	if len(parts) == 2 {
		return whole(&f.exitAfter)(parts[1])
	}
	return nil
}

// diesAfter is how many requests a server that is to die under load lives for.
const diesAfter = 20

func parsePhase(name string) (sglang.PhaseName, error) {
	phases := []sglang.PhaseName{sglang.PhaseProcess, sglang.PhaseInit, sglang.PhaseWeights, sglang.PhaseKV, sglang.PhaseAutotune,
		sglang.PhaseGraphs, sglang.PhaseHTTP, sglang.PhaseWarmup, sglang.PhaseServing}
	if p := sglang.PhaseName(name); slices.Contains(phases, p) {
		return p, nil
	}
	return "", fmt.Errorf("no phase %q: there are %v", name, phases)
}

// setSpoil reads "[SHARE][:TOKENS]" of a way for streams to go wrong.
func setSpoil(how spoil, share float64, after int) func(*faults, string) error {
	return func(f *faults, arg string) error {
		f.spoil, f.share, f.after = how, share, after
		part, tokens, _ := strings.Cut(arg, ":")
		if part != "" {
			v, err := strconv.ParseFloat(part, 64)
			if err != nil || !(v > 0 && v <= 1) {
				return fmt.Errorf("share %q is not above 0 and up to 1", part)
			}
			f.share = v
		}
		if tokens != "" {
			return whole(&f.after)(tokens)
		}
		return nil
	}
}

// whole reads a whole number, 0 or above; an empty word leaves the default.
func whole(to *int) func(string) error {
	return func(word string) error {
		if word == "" {
			return nil
		}
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 {
			return fmt.Errorf("%q is not a whole number", word)
		}
		*to = n
		return nil
	}
}

// spoils says whether the k-th request, from 0, is one of the share: evenly
// spread, so that a test knows how many.
func (f *faults) spoils(k int64) bool {
	return f.spoil != unspoilt && int(float64(k+1)*f.share+1e-9) > int(float64(k)*f.share+1e-9)
}

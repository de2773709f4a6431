package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sweep/internal/sglang"
)

// faultKinds are all faults. What they stand for are failures that users of
// such servers have reported in public.
func faultKinds() []faultKind {
	return []faultKind{
		{"exit", ":[PHASE:]CAUSE[-rankN][:REQUESTS]", "dies in a phase of a cause, on one rank; while it serves, after so many requests (20)", "A15 A18 A20 A21 A24 A26 B05",
			func(f *faults, arg string) error { return f.setExit(arg) }},
		{"hang", "[:PHASE]", "stands still in a phase (init) until it is ended", "A07 A17 A23",
			func(f *faults, arg string) (err error) {
				f.hang = sglang.PhaseInit
				if arg != "" {
					f.hang, err = parsePhase(arg)
				}
				return err
			}},
		{"health-early", "[:wait|503]", "the port is open and /health is 200 from the first moment; what generates waits, or is refused", "A01",
			func(f *faults, arg string) error {
				f.early = map[string]int{"": 1, "wait": 1, "503": 503}[arg]
				if f.early == 0 {
					return fmt.Errorf("%q is neither wait nor 503", arg)
				}
				return nil
			}},
		{"slow-health", "[:SECONDS]", "/health takes so much longer (15)", "A01",
			func(f *faults, arg string) error {
				n := 15
				err := whole(&n)(arg)
				f.slowHealth = time.Duration(n) * time.Second
				return err
			}},
		{"healthy", "", "/health is 200 whatever happens, even when no token comes any more", "A04",
			func(f *faults, _ string) error { f.healthy = true; return nil }},
		{"stream-error", "[:SHARE[:TOKENS]]", "an error event in a stream of status 200, for a share (0.3) after so many tokens (0)", "B10", setSpoil(errorEvent, 0.3, 0)},
		{"abort", "[:SHARE[:TOKENS]]", "a stream ends with finish reason abort, for a share (0.3) after so many tokens (5)", "B10", setSpoil(abortEvent, 0.3, 5)},
		{"early-close", "[:SHARE[:TOKENS]]", "a stream ends without [DONE], for a share (1) after so many tokens (3)", "B11", setSpoil(cutOff, 1, 3)},
		{"empty-body", "[:SHARE]", "status 200 and an empty body, for a share (1)", "B11", setSpoil(emptyBody, 1, 0)},
		{"stall", "[:REQUESTS]", "no stream gets a token any more once so many requests have begun (20); /health fails in time", "A04 B05",
			func(f *faults, arg string) error { f.stallAfter = diesAfter; return whole(&f.stallAfter)(arg) }},
		{"watchdog", "[:REQUESTS]", "as stall, and after --watchdog-timeout the watchdog ends the server", "B05",
			func(f *faults, arg string) error {
				f.stallAfter, f.stallWatchdog = diesAfter, true
				return whole(&f.stallAfter)(arg)
			}},
		{"refuse", "[:REQUESTS]", "503 for each request above so many at once (64)", "B12",
			func(f *faults, arg string) error { f.refuseAbove = 64; return whole(&f.refuseAbove)(arg) }},
		{"garbage", "[:symbol|loop|salad|empty]", "the text is one symbol, a loop after 150 tokens, words without sense, or nothing; counts and speed are right", "B01 B02",
			func(f *faults, arg string) error {
				if arg == "" {
					arg = garbageSymbol
				}
				f.garbage = arg
				if !slices.Contains([]string{garbageSymbol, garbageLoop, garbageSalad, garbageEmpty}, arg) {
					return fmt.Errorf("no kind %q", arg)
				}
				return nil
			}},
		{"short", "[:TOKENS]", "ends after so many tokens (43), whatever was asked", "C24",
			func(f *faults, arg string) error { f.short = 43; return whole(&f.short)(arg) }},
		{"prompt-tokens", "[:FACTOR]", "counts so many prompt tokens per real one (1.08)", "C25",
			func(f *faults, arg string) (err error) {
				f.prompts = 1.08
				if arg != "" {
					err = positive(&f.prompts)(arg)
				}
				return err
			}},
		{"cold", "[:REQUESTS]", "half as fast for so many requests (30), with compiler lines in the log", "A09",
			func(f *faults, arg string) error { f.slowFirst = 30; return whole(&f.slowFirst)(arg) }},
		{"drift", "[:PERCENT]", "gets slower by so many percent a minute (5), as a machine that heats up", "D18 D20",
			func(f *faults, arg string) error {
				f.drift = 5
				if arg == "" {
					return nil
				}
				return positive(&f.drift)(arg)
			}},
		{"kill", "[:REQUESTS]", "is gone at once (SIGKILL) once so many requests have begun (20)", "B08",
			func(f *faults, arg string) error { return f.setExit("serving:sigkill:" + orTwenty(arg)) }},
		{"nan", "[:REQUESTS]", "the model computes NaN once so many requests have begun (20)", "B04",
			func(f *faults, arg string) error { return f.setExit("serving:nan:" + orTwenty(arg)) }},
		{"orphan", "[:nccl|http]", "a child leaves the process tree, keeps a port and outlives the server", "A11 A12 A13",
			func(f *faults, arg string) error {
				if f.orphan = arg; arg == "" {
					f.orphan = "nccl"
				}
				if f.orphan != "nccl" && f.orphan != "http" {
					return fmt.Errorf("%q is neither nccl nor http", arg)
				}
				return nil
			}},
		{"foreign", "[:MODEL]", "claims to serve another model (another-model)", "A13",
			func(f *faults, arg string) error {
				if f.foreign = arg; arg == "" {
					f.foreign = "another-model"
				}
				return nil
			}},
		{"flags-ignored", "[:NAME=VALUE]", "runs on defaults whatever was asked, or tells one other value in /server_info", "A16 D10",
			func(f *faults, arg string) error {
				name, value, one := strings.Cut(arg, "=")
				switch {
				case arg == "":
					f.ignored = true
				case !one:
					return fmt.Errorf("%q is not NAME=VALUE", arg)
				case f.altered == nil:
					f.altered = map[string]string{}
				}
				if one {
					f.altered[strings.ReplaceAll(name, "-", "_")] = value
				}
				return nil
			}},
		{"flood", "[:LINES]", "writes so many log lines a second (2000)", "E14",
			func(f *faults, arg string) error { f.flood = 2000; return whole(&f.flood)(arg) }},
	}
}

func orTwenty(arg string) string {
	if arg == "" {
		return strconv.Itoa(diesAfter)
	}
	return arg
}

// faultUsage is the table as a person reads it.
func faultUsage() string {
	var b strings.Builder
	b.WriteString("Faults (--fault NAME[:ARG], may be repeated):\n")
	for _, k := range faultKinds() {
		fmt.Fprintf(&b, "  %s%s\n      %s (%s)\n", k.name, k.arg, k.what, k.of)
	}
	fmt.Fprintf(&b, "  Phases: process init weights kv-cache autotune graphs http warmup serving\n  Causes: %s\n", strings.Join(causeNames(), " "))
	return b.String()
}

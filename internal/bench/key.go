package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
)

// Schema is the version of every file that this package writes.
const Schema = 1

// Tool names the native client in measurements.
const Tool = "native"

// ToolVersion is the version of the native client's definitions. It changes
// when the same traffic would give another figure or another workload, so that
// measurements of two versions are never taken for the same thing.
const ToolVersion = "1"

// String names the level as it is shown: "c=64", "burst=256", "rate=2.5".
func (l Level) String() string {
	if l.Mode == Open {
		return "rate=" + strconv.FormatFloat(l.Rate, 'g', -1, 64)
	}
	if l.Mode == Burst {
		return "burst=" + strconv.Itoa(l.requests())
	}
	return "c=" + strconv.Itoa(l.Concurrency)
}

// Key identifies what was measured: equal keys mean the same mode, load,
// workload, tool and tool version. It is safe as a directory name. The
// workload's name is only a label and not part of it.
func (l Level) Key() string {
	letter := "c"
	slots := l.slots()
	if l.Mode == Burst {
		letter = "b"
	}
	w := l.Workload
	kind, input := "random-ids", fmt.Sprintf("i%d", w.InputLen)
	if w.Text != "" {
		kind, input = "text/"+w.Text, "text"
	}
	load := fmt.Sprintf("%s%d", letter, slots)
	if l.Mode == Open {
		letter = map[Arrival]string{Poisson: "r", Constant: "k"}[l.Arrival]
		load = letter + strconv.FormatFloat(l.Rate, 'f', -1, 64)
	}
	readable := fmt.Sprintf("%s-p%d-%s-o%d", load, l.requests(), input, w.OutputLen)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%s/%s/%s/r%s/s%d", Tool, ToolVersion, kind, l.Mode, readable,
		strconv.FormatFloat(w.RangeRatio, 'g', -1, 64), w.Seed))
	return readable + "-" + hex.EncodeToString(sum[:4])
}

// requests is how many requests the level issues: a burst that names only its
// size issues that many.
func (l Level) requests() int {
	if l.Mode == Burst && l.Prompts == 0 {
		return l.Concurrency
	}
	return l.Prompts
}

// openSlots bounds the connections of an open loop. Beyond as many requests in
// flight the next ones wait in the client, and their latencies tell.
const openSlots = 4096

// slots is how many requests can be in flight at once.
func (l Level) slots() int {
	switch l.Mode {
	case Burst:
		return l.requests()
	case Open:
		return min(l.requests(), openSlots)
	}
	return l.Concurrency
}

// check tells what is wrong with a level before anything is sent.
func (l Level) check() error {
	w := l.Workload
	switch {
	case w.Text != "":
		return fmt.Errorf("level %s: text workloads cannot be measured yet", l)
	case l.Mode != Closed && l.Mode != Burst && l.Mode != Open:
		return fmt.Errorf("level mode %q is not known: use %q, %q or %q", l.Mode, Closed, Burst, Open)
	case l.Mode == Open && !(l.Rate > 0 && l.Rate <= maxRate):
		return fmt.Errorf("level %s: the rate must be above 0 and at most %d requests a second", l, maxRate)
	case l.Arrival != Poisson && (l.Mode != Open || l.Arrival != Constant):
		return fmt.Errorf("level %s: arrival %q is not known: use %q for an open loop, or nothing", l, l.Arrival, Constant)
	case l.slots() < 1:
		return fmt.Errorf("level %s needs at least one slot", l)
	case l.requests() < 1:
		return fmt.Errorf("level %s needs at least one prompt", l)
	case l.requests() < l.slots():
		return fmt.Errorf("level %s: %d slots are never filled by %d prompts: give at least %d", l, l.slots(), l.requests(), l.slots())
	case w.InputLen < 1 || w.OutputLen < 1:
		return fmt.Errorf("workload lengths are %d in, %d out: both must be at least 1 token", w.InputLen, w.OutputLen)
	case !(w.RangeRatio >= 0 && w.RangeRatio <= 1):
		return fmt.Errorf("range ratio %v is outside 0 to 1", w.RangeRatio)
	}
	return nil
}

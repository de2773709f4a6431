package sweep

import (
	"slices"
	"strings"
	"sync"

	"sweep/internal/sglang"
)

// knownFlags are the flags of every release of sglang that is known.
var knownFlags = sync.OnceValue(func() []*sglang.FlagSet {
	var sets []*sglang.FlagSet
	for _, version := range sglang.Versions() {
		set, _ := sglang.Flags(version)
		sets = append(sets, set)
	}
	return sets
})

// leastAbbreviation is how many letters an abbreviation has at least: one or
// two of them are no name that a person means.
const leastAbbreviation = 3

// maxCompleted bounds how many different names of one file are completed.
const maxCompleted = 1000

// completion is what a name turned out to be.
type completion struct {
	full       string   // "" with candidates: ambiguous; "" without: not known, so left alone
	candidates []string // sorted
}

// complete finds the one flag that a name abbreviates. Which release a server
// runs is not known here, so that a name stands for a flag only where every
// release that can complete it agrees. Names that no release knows are those of
// a fork, or mistyped: they are judged once the release is known.
func (d *decoder) complete(name string) completion {
	if c, ok := d.completed[name]; ok {
		return c
	}
	if len(name) < leastAbbreviation || len(d.completed) >= maxCompleted {
		return completion{}
	}
	if d.completed == nil {
		d.completed = map[string]completion{}
	}
	c := completeIn(knownFlags(), name)
	d.completed[name] = c
	return c
}

func completeIn(sets []*sglang.FlagSet, name string) completion {
	var c completion
	for _, set := range sets {
		if set.Lookup(name) != nil || strings.HasPrefix(name, "no-") {
			return completion{}
		}
	}
	for _, set := range sets {
		full, candidates := set.Complete(name)
		if full != "" {
			candidates = []string{full}
		}
		for _, candidate := range candidates {
			if !slices.Contains(c.candidates, candidate) {
				c.candidates = append(c.candidates, candidate)
			}
		}
	}
	if len(c.candidates) == 1 {
		return completion{full: c.candidates[0]}
	}
	slices.Sort(c.candidates)
	return c
}

// orList is "a, b or c", shortened.
func orList(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

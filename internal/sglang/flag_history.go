package sglang

import (
	"fmt"
	"slices"
	"strings"
)

// Rename is a flag that another one took the place of.
type Rename struct {
	Old, New string // full names; New may carry the value that Old stood for
	Since    string // the first version that has New
	Note     string // what else changed; may be empty
}

// Renames lists the renames that sglang's own deprecation warnings and release
// history state. Flags that merely came or went are found in the lists.
func Renames() []Rename {
	return []Rename{
		{"nsa-prefill", "nsa-prefill-backend", "0.5.6", ""},
		{"nsa-decode", "nsa-decode-backend", "0.5.6", ""},
		{"nsa-prefill-backend", "dsa-prefill-backend", "0.5.13", ""},
		{"nsa-decode-backend", "dsa-decode-backend", "0.5.13", ""},
		{"nsa-prefill-cp-mode", "cp-strategy", "0.5.14", ""},
		{"dsa-prefill-cp-mode", "cp-strategy", "0.5.14", ""},
		{"prefill-cp-mode", "cp-strategy", "0.5.14", ""},
		{"enable-nsa-prefill-context-parallel", "enable-prefill-cp", "0.5.14", ""},
		{"enable-dsa-prefill-context-parallel", "enable-prefill-cp", "0.5.14", ""},
		{"enable-prefill-context-parallel", "enable-prefill-cp", "0.5.14", ""},
		{"cuda-graph-max-bs", "cuda-graph-max-bs-decode", "0.5.14", ""},
		{"cuda-graph-bs", "cuda-graph-bs-decode", "0.5.14", ""},
		{"disable-cuda-graph", "cuda-graph-backend-decode: disabled", "0.5.14", "and cuda-graph-backend-prefill: disabled"},
		{"enable-piecewise-cuda-graph", "cuda-graph-backend-prefill: tc_piecewise", "0.5.14", "from 0.5.10 on it is on by default"},
		{"disable-piecewise-cuda-graph", "cuda-graph-backend-prefill: disabled", "0.5.14", ""},
		{"enforce-piecewise-cuda-graph", "cuda-graph-backend-prefill: tc_piecewise", "0.5.14", ""},
		{"enable-breakable-cuda-graph", "cuda-graph-backend-prefill: breakable", "0.5.14", ""},
		{"piecewise-cuda-graph-tokens", "cuda-graph-bs-prefill", "0.5.14", ""},
		{"piecewise-cuda-graph-max-tokens", "cuda-graph-max-bs-prefill", "0.5.14", ""},
		{"piecewise-cuda-graph-compiler", "cuda-graph-tc-compiler", "0.5.14", ""},
		{"enable-flashinfer-autotune", "disable-flashinfer-autotune", "0.5.7", "the meaning turned round: on unless disabled"},
		{"enable-flashinfer-allreduce-fusion", "flashinfer-allreduce-fusion-backend: auto", "0.5.14", ""},
		{"speculative-dflash-draft-window-size", "speculative-draft-window-size", "0.5.12", ""},
		{"mamba-scheduler-strategy", "mamba-radix-cache-strategy", "0.5.14", ""},
		{"enable-gdn-replayssm-spec", "enable-linear-replayssm-spec", "0.5.17", ""},
	}
}

// newName is the flag that New names, without a value.
func (r Rename) newName() string {
	name, _, _ := strings.Cut(r.New, ":")
	return name
}

// replacement is what this version has in place of a flag, with what changed;
// empty when it has nothing else.
func (fs *FlagSet) replacement(name string) string {
	for _, r := range Renames() {
		if r.Old != name || fs.Lookup(r.newName()) == nil {
			continue
		}
		if r.Note != "" {
			return r.New + " (" + r.Note + ")"
		}
		return r.New
	}
	return ""
}

// earlier is what this version still calls a flag that was renamed later.
func (fs *FlagSet) earlier(name string) string {
	for _, r := range Renames() {
		if r.New != name || fs.Lookup(r.Old) == nil {
			continue
		}
		if r.Note != "" {
			return r.Old + " (later " + r.Note + ")"
		}
		return r.Old
	}
	return ""
}

// FlagHistory says which of the known lists have a flag of this name or alias:
// the first and the last of them. Both are empty when none has.
func FlagHistory(name string) (first, last string) {
	return embeddedLists().span(dashed(name), "")
}

// span is the first and the last version that declares an option and, unless
// empty, a choice of it.
func (l FlagLists) span(option, choice string) (first, last string) {
	for i, v := range l.Versions {
		if l.has(i, option, choice) {
			if first == "" {
				first = v
			}
			last = v
		}
	}
	return first, last
}

// FlagChanges names the flags that one version has and another has not, by
// their full names, sorted. Both versions stand for the lists that Flags finds.
func FlagChanges(from, to string) (added, removed []string) {
	a, _ := Flags(from)
	b, _ := Flags(to)
	for _, pair := range []struct {
		in, out *FlagSet
		names   *[]string
	}{{b, a, &added}, {a, b, &removed}} {
		for _, name := range pair.in.Names() {
			if pair.out.Lookup(name) == nil {
				*pair.names = append(*pair.names, name)
			}
		}
		slices.Sort(*pair.names)
	}
	return added, removed
}

// has tells whether version i declares an option and, unless empty, a choice
// of it.
func (l FlagLists) has(i int, option, choice string) bool {
	return slices.ContainsFunc(l.Lines, func(line ListedFlag) bool {
		return line.In&(1<<i) != 0 && slices.Contains(line.Names, option) && (choice == "" || slices.Contains(line.Choices, choice))
	})
}

// history is what to do about a flag that the list does not have.
func (fs *FlagSet) history(name string) string {
	if instead := fs.replacement(name); instead != "" {
		return "write " + instead
	}
	if old := fs.earlier(name); old != "" {
		return "this version calls it " + old
	}
	first, last := fs.known().span(dashed(name), "")
	switch {
	case first == "":
		return ""
	case CompareVersions(fs.Version, first) < 0:
		return "the list of sglang " + first + " is the first that has it"
	case CompareVersions(fs.Version, last) > 0:
		return "the list of sglang " + last + " is the last that has it"
	}
	return fmt.Sprintf("the lists of sglang %s to %s have it", first, last)
}

// choiceElsewhere says which versions take a choice that this one does not.
func (fs *FlagSet) choiceElsewhere(name, choice string) string {
	first, last := fs.known().span(dashed(name), choice)
	switch {
	case first == "":
		return ""
	case CompareVersions(fs.Version, first) < 0:
		return "the list of sglang " + first + " is the first that has " + quoted(choice)
	case CompareVersions(fs.Version, last) > 0:
		return "the list of sglang " + last + " is the last that has " + quoted(choice)
	}
	return ""
}

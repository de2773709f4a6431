package sglang

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// flagLists are the flags of upstream releases: a line with the versions, then
// a line for each distinct declaration with the versions that have it.
// `go run ./internal/sglang/flaglist` writes it.
//
//go:embed flags.jsonl
var flagLists string

// FlagLists are the known lists in their compact form.
type FlagLists struct {
	Versions []string // oldest first
	Lines    []ListedFlag
}

// ListedFlag is one declaration and the versions that have it.
type ListedFlag struct {
	Flag
	In uint64 `json:"in"` // bit i: version i
}

// embeddedLists decodes the lists in the binary. They are written by us and
// tested, so a line that does not decode is a bug.
func embeddedLists() FlagLists {
	lists, err := ReadFlagLists(flagLists)
	if err != nil {
		panic(err)
	}
	return lists
}

// ReadFlagLists decodes what WriteFlagLists wrote.
func ReadFlagLists(text string) (FlagLists, error) {
	var lists FlagLists
	head, rest, _ := strings.Cut(text, "\n")
	if err := json.Unmarshal([]byte(head), &lists.Versions); err != nil {
		return lists, fmt.Errorf("read the versions of the flag lists: %w", err)
	}
	for line := range strings.Lines(rest) {
		var l ListedFlag
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			return lists, fmt.Errorf("read the flag lists: %w in %.80s", err, line)
		}
		lists.Lines = append(lists.Lines, l)
	}
	return lists, nil
}

// WriteFlagLists makes the compact form of some sets, oldest version first.
func WriteFlagLists(sets []*FlagSet) (string, error) {
	var versions []string
	var order []string
	in := map[string]uint64{}
	for i, fs := range sets {
		versions = append(versions, fs.Version)
		for _, f := range fs.Flags {
			line, err := json.Marshal(f)
			if err != nil {
				return "", fmt.Errorf("write the flag %s: %w", f.Name(), err)
			}
			if in[string(line)] == 0 {
				order = append(order, string(line))
			}
			in[string(line)] |= 1 << i
		}
	}
	var b strings.Builder
	head, err := json.Marshal(versions)
	if err != nil {
		return "", fmt.Errorf("write the versions of the flag lists: %w", err)
	}
	b.Write(head)
	for _, line := range order {
		fmt.Fprintf(&b, "\n%s,\"in\":%d}", strings.TrimSuffix(line, "}"), in[line])
	}
	return b.String() + "\n", nil
}

// Set makes the list of version i.
func (l FlagLists) Set(i int) *FlagSet {
	var flags []Flag
	for _, line := range l.Lines {
		if line.In&(1<<i) != 0 {
			flags = append(flags, line.Flag)
		}
	}
	fs := newFlagSet(l.Versions[i], flags)
	fs.lists = &l
	return fs
}

// known are the lists of all versions.
func (fs *FlagSet) known() FlagLists {
	if fs.lists != nil {
		return *fs.lists
	}
	return embeddedLists()
}

// Versions are the releases whose flags are known, oldest first.
func Versions() []string { return embeddedLists().Versions }

// Flags returns the flags of a version: its own list where there is one
// (exact), else that of the nearest known release below it, or the oldest. An
// empty version, or one that cannot be read, gets the newest list. The set
// says which list it is.
func Flags(asked string) (fs *FlagSet, exact bool) {
	lists := embeddedLists()
	v, ok := parseRelease(asked)
	if !ok {
		fs = lists.Set(len(lists.Versions) - 1)
		fs.Asked = unknownVersion
		return fs, false
	}
	best := 0
	for i, name := range lists.Versions {
		known, _ := parseRelease(name)
		switch c := known.compare(v); {
		case c == 0:
			return lists.Set(i), true
		case c < 0:
			best = i
		}
	}
	fs = lists.Set(best)
	fs.Asked = strings.TrimPrefix(strings.TrimSpace(asked), "v")
	return fs, false
}

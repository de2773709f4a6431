package sglang

import (
	"slices"
	"strings"
)

// FlagKind says how a flag is written on the command line.
type FlagKind string

// The kinds of flag that sglang's parser declares.
const (
	FlagSwitch FlagKind = "switch" // alone; a switch has no off form, off is absent
	FlagToggle FlagKind = "toggle" // a switch with a --no- twin (argparse.BooleanOptionalAction)
	FlagWord   FlagKind = "word"   // one word, or none or one where Nargs is "?"
	FlagWords  FlagKind = "words"  // several words: Nargs says how many
	FlagJSON   FlagKind = "json"   // one word of JSON
	FlagHelp   FlagKind = "help"   // prints the help and ends
)

// FlagType says how the server reads a word of a flag.
type FlagType string

// The types that a word is checked by. Any other reader of a newer sglang or a
// fork becomes TypeAny: what cannot be known is not refused.
const (
	TypeText  FlagType = "text"
	TypeInt   FlagType = "int"
	TypeFloat FlagType = "float"
	TypeHuman FlagType = "human-int" // human_readable_int: 128k, 1M, 25.6k, 64Ki
	TypeBool  FlagType = "bool"      // Python's bool(): every word but the empty one is true
	TypeJSON  FlagType = "json"      // json.loads, which reads NaN and Infinity too
	TypeList  FlagType = "json-list" // json_list_type: orjson, which does not
	TypeGraph FlagType = "graph"     // parse_cuda_graph_config_arg: an object of decode and prefill
	TypeAny   FlagType = "any"
)

// Flag is one flag of sglang's server, as its argument parser declares it.
type Flag struct {
	Names      []string `json:"names"` // with dashes, as declared, the --no- twin left out
	Kind       FlagKind `json:"kind"`
	Type       FlagType `json:"type,omitempty"`       // of each word; empty for switches
	Nargs      string   `json:"nargs,omitempty"`      // "", "?", "*", "+" or a number, as argparse has it; "" for switches
	Choices    []string `json:"choices,omitempty"`    // empty: any word, or choices that are known only on the host
	Default    string   `json:"default,omitempty"`    // what the server uses without the flag; empty: nothing, or not known
	Required   bool     `json:"required,omitempty"`   // refused without it
	Deprecated bool     `json:"deprecated,omitempty"` // accepted with a warning
	Ignored    bool     `json:"ignored,omitempty"`    // accepted, and nothing reads it any more
	Instead    string   `json:"instead,omitempty"`    // what to write in place of a deprecated flag, where that is known
}

// Name is the flag's full name without dashes: its first long name, the one
// that sweep files use.
func (f *Flag) Name() string {
	for _, n := range f.Names {
		if strings.HasPrefix(n, "--") {
			return n[2:]
		}
	}
	return strings.TrimLeft(f.Names[0], "-")
}

// Alone tells whether the flag takes no word.
func (f *Flag) Alone() bool {
	return f.Kind == FlagSwitch || f.Kind == FlagToggle || f.Kind == FlagHelp
}

// FlagSet is what one version of sglang accepts. It does not change once made
// and may be used by several goroutines.
type FlagSet struct {
	Version   string // of sglang, without a leading v; empty when a dump did not say
	Asked     string // the version that was asked for, when that is not Version
	Installed bool   // read from the parser that is installed; otherwise from a list of the upstream release
	Flags     []Flag // in the order declared

	lists   *FlagLists        // the set is one of; nil for a dump
	options []string          // every option string, in the order declared, --no- twins too
	index   map[string]option // by option string
}

// option is what an option string means.
type option struct {
	flag *Flag
	off  bool // the --no- twin
}

// helpFlag is in every parser of argparse.
func helpFlag() Flag { return Flag{Names: []string{"-h", "--help"}, Kind: FlagHelp} }

// newFlagSet indexes flags. A name that is declared twice belongs to the first.
func newFlagSet(version string, flags []Flag) *FlagSet {
	fs := &FlagSet{Version: version, Flags: flags, index: make(map[string]option, len(flags)+16)}
	if !slices.ContainsFunc(flags, func(f Flag) bool { return f.Kind == FlagHelp }) {
		fs.Flags = append([]Flag{helpFlag()}, flags...)
	}
	for i := range fs.Flags {
		f := &fs.Flags[i]
		for _, name := range f.Names {
			fs.declare(name, option{f, false})
			if long, ok := strings.CutPrefix(name, "--"); ok && f.Kind == FlagToggle {
				fs.declare("--no-"+long, option{f, true})
			}
		}
	}
	return fs
}

func (fs *FlagSet) declare(name string, m option) {
	if _, taken := fs.index[name]; !taken {
		fs.index[name] = m
		fs.options = append(fs.options, name)
	}
}

// Exact tells whether this is what the asked version accepts, rather than the
// list of the nearest version that is known.
func (fs *FlagSet) Exact() bool { return fs.Asked == "" }

// Source names where the list is from, for messages.
func (fs *FlagSet) Source() string {
	version := fs.Version
	if version == "" {
		version = "of an unknown version"
	}
	switch {
	case fs.Installed:
		return "the installed sglang " + version
	case fs.Asked == unknownVersion:
		return "the list of sglang " + version + " (which version is installed is not known)"
	case !fs.Exact():
		return "the list of sglang " + version + " (there is none of " + Plain(fs.Asked) + ")"
	}
	return "the list of sglang " + version
}

// Release is the version of sglang that rules about versions go by: the asked
// one, also where the list is that of a neighbour; empty when it is not known.
func (fs *FlagSet) Release() string {
	switch fs.Asked {
	case "":
		return fs.Version
	case unknownVersion:
		return ""
	}
	return fs.Asked
}

// Names are the full names of all flags, without dashes, for a near match.
func (fs *FlagSet) Names() []string {
	names := make([]string, 0, len(fs.Flags))
	for i := range fs.Flags {
		if fs.Flags[i].Kind != FlagHelp {
			names = append(names, fs.Flags[i].Name())
		}
	}
	return names
}

// Lookup finds the flag of exactly this name or alias, without or with dashes;
// nil when there is none.
func (fs *FlagSet) Lookup(name string) *Flag {
	m := fs.index[dashed(name)]
	if m.off {
		return nil
	}
	return m.flag
}

// Complete is argparse's rule for names: an exact name wins; otherwise a
// prefix that fits one declared name stands for it. full is the flag's full
// name without dashes ("no-…" for the off form of a toggle), or empty when
// nothing fits or several do; candidates are then the names that do. A flag
// with two names that both fit is ambiguous too, as it is to argparse.
func (fs *FlagSet) Complete(name string) (full string, candidates []string) {
	written := dashed(name)
	if m, ok := fs.index[written]; ok {
		return m.name(), nil
	}
	for _, o := range fs.prefixed(written) {
		candidates = append(candidates, o[2:])
	}
	if len(candidates) == 1 {
		return fs.index["--"+candidates[0]].name(), nil
	}
	return "", candidates
}

// prefixed are the declared long options that begin like this.
func (fs *FlagSet) prefixed(written string) []string {
	var fit []string
	if len(written) <= 2 {
		return nil
	}
	for _, o := range fs.options {
		if strings.HasPrefix(o, written) && strings.HasPrefix(o, "--") {
			fit = append(fit, o)
		}
	}
	return fit
}

func (m option) name() string {
	if m.off {
		return "no-" + m.flag.Name()
	}
	return m.flag.Name()
}

func dashed(name string) string {
	if strings.HasPrefix(name, "-") {
		return name
	}
	return "--" + name
}

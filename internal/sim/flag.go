package sim

import (
	"slices"
	"strings"

	"sweep/internal/sglang"
)

// kind is how a flag's word is read.
type kind int

const (
	text kind = iota
	integer
	human // sglang's human_readable_int: 8k is 8,000, 8Ki is 8,192
	float
	object // JSON
	toggle // store_true: no value
)

// flag is one server argument as sglang declares it to argparse.
type flag struct {
	names    []string // option strings in declaration order
	dest     string   // Python name of the field
	kind     kind
	nargs    string   // "" one word, "?" none or one, "*" and "+" several
	initial  string   // default, as it would be typed; "" is None
	choices  []string // nil: anything
	required bool
	twin     bool // a toggle whose --no- form is among the names
}

// sglangFlags are the server arguments of a version, from the list of that
// release. Most only show up in the log and in /server_info; setupFrom tells
// which ones change what the server does.
func sglangFlags(version string) []flag {
	set, _ := sglang.Flags(version)
	d, err := parseVersion(version)
	var list []flag
	for _, f := range set.Flags {
		if f.Kind == sglang.FlagHelp {
			continue
		}
		one := declared(f)
		if err == nil && !d.from(14) {
			one.names = longFirst(one.names)
		}
		list = append(list, one)
	}
	return list
}

// longFirst orders names as releases before 0.5.14 declare the parallel sizes,
// --tensor-parallel-size before --tp-size, which shows in argparse's words.
func longFirst(names []string) []string {
	sorted := slices.Clone(names)
	slices.SortStableFunc(sorted, func(a, b string) int {
		rank := func(n string) int {
			if strings.HasSuffix(n, "-parallel-size") {
				return 0
			}
			return 1
		}
		return rank(a) - rank(b)
	})
	return sorted
}

// declared makes a flag of a list's.
func declared(f sglang.Flag) flag {
	d := flag{
		names: f.Names, dest: destination(f), nargs: f.Nargs, initial: f.Default, choices: f.Choices, required: f.Required,
		kind: map[sglang.FlagType]kind{
			sglang.TypeInt: integer, sglang.TypeHuman: human, sglang.TypeFloat: float,
			sglang.TypeJSON: object, sglang.TypeList: object, sglang.TypeGraph: object,
		}[f.Type],
	}
	if f.Alone() {
		d.kind, d.initial = toggle, ""
	}
	if f.Kind == sglang.FlagToggle {
		d.twin = true
		for _, n := range f.Names {
			d.names = append(d.names[:len(d.names):len(d.names)], "--no-"+strings.TrimPrefix(n, "--"))
		}
	}
	return d
}

// destination is the Python name of a flag's field: that of its first name, but
// for some parallel sizes and for old names that set a new field.
func destination(f sglang.Flag) string {
	name := f.Name()
	if other := map[string]string{
		"tensor-parallel-size": "tp_size", "pipeline-parallel-size": "pp_size", "data-parallel-size": "dp_size", "expert-parallel-size": "ep_size",
	}[name]; other != "" {
		return other
	}
	if other := map[string]string{
		"cuda-graph-max-bs": "cuda_graph_max_bs_decode", "cuda-graph-bs": "cuda_graph_bs_decode", "stream-output": "incremental_streaming_output",
		"nsa-prefill-backend": "dsa_prefill_backend", "nsa-decode-backend": "dsa_decode_backend",
	}[name]; other != "" && f.Deprecated {
		return other
	}
	return strings.ReplaceAll(name, "-", "_")
}

// title names the flag in argparse's errors.
func (f flag) title() string { return strings.Join(f.names, "/") }

// usage is the flag's part of the usage text.
func (f flag) usage() string {
	meta := strings.ToUpper(f.dest)
	if f.choices != nil {
		meta = "{" + strings.Join(f.choices, ",") + "}"
	}
	s := f.names[0]
	switch {
	case f.twin:
		s = strings.Join(f.names, " | ")
	case f.kind == toggle:
	case f.nargs == "?":
		s += " [" + meta + "]"
	case f.nargs == "*":
		s += " [" + meta + " ...]"
	case f.nargs == "+":
		s += " " + meta + " [" + meta + " ...]"
	default:
		s += " " + meta
	}
	if f.required {
		return s
	}
	return "[" + s + "]"
}

package sim

import (
	"fmt"
	"strconv"
	"strings"
)

// Args are parsed server arguments by their Python names, in declaration order:
// nil (None), bool, int, float64, string, or a list of one of these. Readers of one kind give the
// zero value for None.
type Args struct {
	names  []string
	values map[string]any
}

func newArgs(flags []flag) Args {
	a := Args{values: make(map[string]any, len(flags))}
	for _, f := range flags {
		var v any
		if f.initial != "" {
			v, _ = f.read(f.initial)
			if f.nargs == "+" || f.nargs == "*" {
				v = f.initial // the list says it in words
			}
		}
		if f.kind == toggle {
			v = false
		}
		if a.values[f.dest] == nil { // an old name of the same field may come later
			a.Set(f.dest, v)
		}
	}
	return a
}

// Set gives a field a value, new fields at the end.
func (a *Args) Set(name string, v any) {
	if _, known := a.values[name]; !known {
		a.names = append(a.names, name)
	}
	a.values[name] = v
}

// None says whether a field is unset.
func (a Args) None(name string) bool { return a.values[name] == nil }

// Int reads an integer field.
func (a Args) Int(name string) int { v, _ := a.values[name].(int); return v }

// Float reads a float field.
func (a Args) Float(name string) float64 { v, _ := a.values[name].(float64); return v }

// Bool reads a switch.
func (a Args) Bool(name string) bool { v, _ := a.values[name].(bool); return v }

// Text reads a string field.
func (a Args) Text(name string) string { v, _ := a.values[name].(string); return v }

// Ints reads a list field.
func (a Args) Ints(name string) []int { v, _ := a.values[name].([]int); return v }

// clone copies the fields, so that resolving leaves what was asked alone.
func (a Args) clone() Args {
	b := Args{values: make(map[string]any, len(a.values))}
	for _, n := range a.names {
		b.Set(n, a.values[n])
	}
	return b
}

// String is the way Python prints the dataclass in the log.
func (a Args) String() string {
	parts := make([]string, 0, len(a.names))
	for _, n := range a.names {
		parts = append(parts, n+"="+repr(a.values[n]))
	}
	return "ServerArgs(" + strings.Join(parts, ", ") + ")"
}

// repr is Python's repr of a value.
func repr(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case float64:
		s := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(s, ".en") {
			s += ".0"
		}
		return s
	case string:
		return quoted(v)
	case []int:
		return reprs(v)
	case []any:
		return reprs(v)
	}
	return fmt.Sprint(v)
}

func reprs[T any](list []T) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = repr(v)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

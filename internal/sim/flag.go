package sim

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// kind is how argparse reads a flag's value.
type kind int

const (
	text kind = iota
	integer
	human // sglang's human_readable_int: 8k is 8,000, 8K is 8,192
	float
	toggle // store_true: no value
	integers
)

// flag is one server argument as sglang declares it to argparse.
type flag struct {
	names    []string // option strings in declaration order
	dest     string   // Python name of the field; "" derives it from the first name
	kind     kind
	initial  string   // default, as it would be typed; "" is None
	choices  []string // nil: anything
	required bool
}

// field is the Python name that /server_info and the log use.
func (f flag) field() string {
	if f.dest != "" {
		return f.dest
	}
	return strings.ReplaceAll(strings.TrimPrefix(f.names[0], "--"), "-", "_")
}

// title names the flag in argparse's errors.
func (f flag) title() string { return strings.Join(f.names, "/") }

// usage is the flag's part of the usage text.
func (f flag) usage() string {
	meta := strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(f.names[0], "--"), "-", "_"))
	if f.choices != nil {
		meta = "{" + strings.Join(f.choices, ",") + "}"
	}
	s := f.names[0] + " " + meta
	switch f.kind {
	case toggle:
		s = f.names[0]
	case integers:
		s += " [" + meta + " ...]"
	}
	if f.required {
		return s
	}
	return "[" + s + "]"
}

// read turns one word into the flag's value, or says what argparse would.
func (f flag) read(word string) (any, error) {
	var v any = word
	var err error
	switch f.kind {
	case integer, integers:
		v, err = strconv.Atoi(strings.TrimSpace(word))
		if err != nil {
			return nil, fmt.Errorf("argument %s: invalid int value: %s", f.title(), quoted(word))
		}
	case human:
		v, err = readHuman(word)
		if err != nil {
			return nil, fmt.Errorf("argument %s: invalid human_readable_int value: %s", f.title(), quoted(word))
		}
	case float:
		v, err = strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || strings.ContainsAny(word, "xXpP_") {
			return nil, fmt.Errorf("argument %s: invalid float value: %s", f.title(), quoted(word))
		}
	}
	if f.choices == nil {
		return v, nil
	}
	var known []string
	for _, c := range f.choices {
		if c == word {
			return v, nil
		}
		known = append(known, quoted(c))
	}
	return nil, fmt.Errorf("argument %s: invalid choice: %s (choose from %s)", f.title(), quoted(word), strings.Join(known, ", "))
}

func readHuman(word string) (int, error) {
	units := map[byte]float64{'k': 1e3, 'K': 1 << 10, 'm': 1e6, 'M': 1 << 20, 'g': 1e9, 'G': 1 << 30}
	if word == "" {
		return 0, strconv.ErrSyntax
	}
	unit, ok := units[word[len(word)-1]]
	if !ok {
		return strconv.Atoi(strings.TrimSpace(word))
	}
	v, err := strconv.ParseFloat(word[:len(word)-1], 64)
	if err != nil || math.IsNaN(v) || math.Abs(v*unit) > math.MaxInt32*1024.0 {
		return 0, strconv.ErrSyntax
	}
	return int(v * unit), nil
}

// quoted is Python's repr of a string, close enough for a log.
func quoted(s string) string {
	s = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x1b", `\x1b`).Replace(s)
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `\'`) + "'"
}

package sim

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// errHelp is returned for -h and --help.
var errHelp = errors.New("help asked for")

// negative is what argparse takes for a number, not an option, when no option
// of the parser looks like one.
var negative = regexp.MustCompile(`^-\d+$|^-\d*\.\d+$`)

// word is one command line word as argparse classifies it before it reads
// anything: an option (known or not) or a plain argument.
type word struct {
	raw    string
	option bool
	flag   *flag   // nil: an option that nobody declared
	name   string  // the name meant, in full
	inline *string // the value of --x=value
}

// parseArgs reads server arguments as Python's argparse does: exact names,
// --name=value, unique abbreviations, the last of a repeated flag wins. The
// error's text is what follows "launch_server.py: error: ".
func parseArgs(flags []flag, argv []string) (Args, error) {
	args := newArgs(flags)
	words := make([]word, len(argv))
	for i, raw := range argv {
		w, err := classify(flags, raw)
		if err != nil {
			return args, err
		}
		words[i] = w
	}
	var unknown []string
	seen := map[string]bool{}
	for i := 0; i < len(words); {
		w := words[i]
		i++
		if w.raw == "-h" || w.raw == "--help" {
			return args, errHelp
		}
		if w.flag == nil {
			unknown = append(unknown, w.raw)
			continue
		}
		f := *w.flag
		seen[f.dest] = true
		var given []string
		switch {
		case w.inline != nil:
			given = []string{*w.inline}
		case f.kind != toggle:
			for i < len(words) && !words[i].option && (f.nargs == "+" || f.nargs == "*" || len(given) == 0) {
				given = append(given, words[i].raw)
				i++
			}
		}
		v, err := f.take(w.name, given)
		if err != nil {
			return args, err
		}
		args.Set(f.dest, v)
	}
	var missing []string
	for _, f := range flags {
		if f.required && !seen[f.dest] {
			missing = append(missing, f.title())
		}
	}
	if missing != nil {
		return args, fmt.Errorf("the following arguments are required: %s", strings.Join(missing, ", "))
	}
	if unknown != nil {
		return args, fmt.Errorf("unrecognized arguments: %s", strings.Join(unknown, " "))
	}
	return args, nil
}

// take turns the words given to a flag into its value.
func (f flag) take(name string, given []string) (any, error) {
	several := f.nargs == "+" || f.nargs == "*"
	switch {
	case f.kind == toggle && len(given) > 0:
		return nil, fmt.Errorf("argument %s: ignored explicit argument %s", f.title(), quoted(given[0]))
	case f.kind == toggle:
		return !f.twin || !strings.HasPrefix(name, "--no-"), nil
	case len(given) == 0 && f.nargs == "?":
		return nil, nil
	case len(given) == 0 && f.nargs == "+":
		return nil, fmt.Errorf("argument %s: expected at least one argument", f.title())
	case len(given) == 0 && f.nargs == "":
		return nil, fmt.Errorf("argument %s: expected one argument", f.title())
	case !several:
		return f.read(given[0])
	}
	numbers, list := []int{}, []any{}
	for _, g := range given {
		v, err := f.read(g)
		if err != nil {
			return nil, err
		}
		if n, whole := v.(int); whole {
			numbers = append(numbers, n)
		}
		list = append(list, v)
	}
	if f.kind == integer {
		return numbers, nil
	}
	return list, nil
}

// classify finds the flag that a word names, whole or by unique abbreviation.
func classify(flags []flag, raw string) (word, error) {
	w := word{raw: raw}
	if len(raw) < 2 || raw[0] != '-' || negative.MatchString(raw) {
		return w, nil
	}
	if raw == "--" {
		w.option = true // ends the options, and there are no positionals
		return w, nil
	}
	name, value, hasValue := strings.Cut(raw, "=")
	if hasValue {
		w.inline = &value
	}
	var names []string
	var found *flag
	for i := range flags {
		for _, n := range flags[i].names {
			if n == name {
				w.flag, w.name, w.option = &flags[i], n, true
				return w, nil
			}
			if strings.HasPrefix(n, name) && strings.HasPrefix(name, "--") {
				names, found = append(names, n), &flags[i]
			}
		}
	}
	switch {
	case len(names) > 1:
		return w, fmt.Errorf("ambiguous option: %s could match %s", raw, strings.Join(names, ", "))
	case len(names) == 1:
		w.flag, w.name, w.option = found, names[0], true
	case strings.Contains(raw, " "):
		w.inline = nil // argparse takes it for a positional
	default:
		w.option = true
	}
	return w, nil
}

// usage is argparse's usage text, wrapped as on an 80-column terminal.
func usage(flags []flag) string {
	const head, width = "usage: launch_server.py ", 78
	var b strings.Builder
	line := head + "[-h]"
	for _, f := range flags {
		part := f.usage()
		if len(line)+1+len(part) > width {
			b.WriteString(line + "\n")
			line = strings.Repeat(" ", len(head)-1)
		}
		line += " " + part
	}
	b.WriteString(line + "\n")
	return b.String()
}

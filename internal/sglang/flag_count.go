package sglang

import "fmt"

// counts are the least and the most words a flag takes.
func (f *Flag) counts() (least, most int) {
	const many = 1 << 30
	switch f.Nargs {
	case "":
		return 1, 1
	case "?":
		return 0, 1
	case "*":
		return 0, many
	case "+":
		return 1, many
	}
	n := 0
	fmt.Sscanf(f.Nargs, "%d", &n) //nolint:errcheck // a count, by its pattern
	return n, n
}

// example is the flag as a sweep file has it.
func (f *Flag) example() string {
	value := "…"
	switch {
	case len(f.Choices) > 0:
		value = f.Choices[0]
	case f.Kind == FlagWords:
		value = "[…, …]"
	case f.Kind == FlagJSON:
		value = "{…}"
	}
	return f.Name() + ": " + value
}

func need(n int, t FlagType) string {
	if n == 1 {
		return t.wanted()
	}
	return fmt.Sprintf("%d words", n)
}

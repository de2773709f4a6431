package sim

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// read turns one word into the flag's value, or says what argparse would.
func (f flag) read(word string) (any, error) {
	var v any = word
	var err error
	name := ""
	switch f.kind {
	case integer:
		name = "int"
		v, err = strconv.Atoi(number(word))
	case human:
		name = "human_readable_int"
		v, err = readHuman(word)
	case float:
		name = "float"
		v, err = strconv.ParseFloat(number(word), 64)
		if err == nil && strings.ContainsAny(word, "xXpP") {
			err = strconv.ErrSyntax
		}
	case object:
		name = "loads"
		if !json.Valid([]byte(word)) {
			err = strconv.ErrSyntax
		}
	}
	if err != nil {
		return nil, fmt.Errorf("argument %s: invalid %s value: %s", f.title(), name, quoted(word))
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
	word = strings.TrimSpace(word)
	for unit, by := range map[string]float64{
		"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40,
	} {
		digits, ok := strings.CutSuffix(word, unit)
		if !ok || len(unit) == 2 && strings.Contains(digits, ".") {
			continue
		}
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil || strings.ContainsAny(digits, "xXpPeE+-") || math.Abs(v*by) > math.MaxInt32*1024.0 {
			return 0, strconv.ErrSyntax
		}
		return int(v * by), nil
	}
	return strconv.Atoi(number(word))
}

// grouped is an underscore that Python allows in a number.
var grouped = regexp.MustCompile(`(\d)_(\d)`)

// number is a word as Go reads a number, with what Python reads over left out.
func number(word string) string {
	word = grouped.ReplaceAllString(strings.TrimSpace(word), "$1$2")
	return grouped.ReplaceAllString(word, "$1$2") // 1_2_3: matches share a digit
}

// quoted is Python's repr of a string, close enough for a log.
func quoted(s string) string {
	s = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x1b", `\x1b`).Replace(s)
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `\'`) + "'"
}

package remote

import (
	"fmt"
	"strings"
)

// configLine is one line of a configuration file. The keyword is in lower case.
type configLine struct {
	keyword string
	value   string
	number  int // from 1
}

// splitConfig cuts a configuration into its lines. The result has an entry for
// every line, so that an index is a line number less one.
func splitConfig(data string) []configLine {
	var lines []configLine
	for i, text := range strings.Split(data, "\n") {
		line := configLine{number: i + 1}
		text = strings.TrimSpace(text)
		if text != "" && text[0] != '#' {
			end := strings.IndexAny(text, " \t=")
			if end < 0 {
				end = len(text)
			}
			line.keyword = strings.ToLower(text[:end])
			value := strings.TrimSpace(text[end:])
			line.value = withoutComment(strings.TrimSpace(strings.TrimPrefix(value, "=")))
		}
		lines = append(lines, line)
	}
	return lines
}

// withoutComment drops a comment behind a value. A # inside a word or inside
// quotes is part of the value.
func withoutComment(value string) string {
	quoted := false
	for i := range len(value) {
		switch {
		case value[i] == '"':
			quoted = !quoted
		case value[i] == '#' && !quoted && (i == 0 || value[i-1] == ' ' || value[i-1] == '\t'):
			return strings.TrimSpace(value[:i])
		}
	}
	return value
}

// words splits a value at blanks outside double quotes, and removes the quotes.
func words(value string) ([]string, error) {
	var all []string
	var word strings.Builder
	quoted, inside := false, false
	for _, r := range value {
		switch {
		case r == '"':
			quoted, inside = !quoted, true
		case !quoted && (r == ' ' || r == '\t'):
			if inside {
				all = append(all, word.String())
			}
			word.Reset()
			inside = false
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	if quoted {
		return nil, fmt.Errorf("a double quote is not closed")
	}
	if inside {
		all = append(all, word.String())
	}
	return all, nil
}

// matchPatterns are the host patterns of a Match line that asks for nothing
// else. Other criteria need facts or programs that sweep does not have.
func matchPatterns(value string) (patterns []string, ok bool) {
	criteria, err := words(value)
	if err != nil {
		return nil, false
	}
	switch {
	case len(criteria) == 1 && strings.EqualFold(criteria[0], "all"):
		return []string{"*"}, true
	case len(criteria) == 2 && (strings.EqualFold(criteria[0], "host") || strings.EqualFold(criteria[0], "originalhost")):
		return strings.Split(criteria[1], ","), true
	}
	return nil, false
}

package remote

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes text that another machine wrote fit for one line of a message:
// no control characters, no line breaks, at most max bytes.
func clean(text string, max int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= max {
		return text
	}
	for max > 0 && !utf8.RuneStart(text[max]) {
		max--
	}
	return text[:max] + "…"
}

package bench

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes text that came from a server fit to be shown on one line: at most
// limit bytes, valid UTF-8, without control characters, runs of blanks as one.
func clean(text []byte, limit int) string {
	cut := len(text) > limit
	if cut {
		text = text[:limit]
		for len(text) > 0 { // not in the middle of a character
			if r, size := utf8.DecodeLastRune(text); r != utf8.RuneError || size != 1 {
				break
			}
			text = text[:len(text)-1]
		}
	}
	shown := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(text), "?"))
	shown = strings.Join(strings.Fields(shown), " ")
	if cut {
		shown += " …"
	}
	return shown
}

package sglang

import (
	"regexp"
	"strings"
	"unicode"
)

// escapes are terminal escape sequences: CSI (colours, cursor), OSC (titles,
// links) and the two-byte ones.
var escapes = regexp.MustCompile("\x1b(?:\\[[0-9;:<=>?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-Z\\\\^_])")

// Plain makes text of unknown origin safe to show on one line of a terminal or
// in a document: escape sequences, control characters, line breaks and
// characters that turn the direction of writing are removed, tabs become
// spaces, and invalid UTF-8 becomes U+FFFD.
func Plain(s string) string {
	if plainASCII(s) {
		return s
	}
	s = escapes.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r), r == '\u2028', r == '\u2029', unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
}

// plainASCII spares the usual line the work.
func plainASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// cut shortens s to at most n bytes without splitting a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

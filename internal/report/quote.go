package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shellWord writes a word so that a POSIX shell reads it back unchanged. Words
// with characters that cannot be printed use the $'…' form of bash and zsh:
// they stay exact and cannot reach the terminal.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, plainShell) == "" {
		return s
	}
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(s) { // bytes: invalid UTF-8 is kept as well
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b.WriteString(`\` + string(rune(c)))
		case c >= ' ' && c < 0x7f:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	return b.String() + "'"
}

const plainShell = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+"

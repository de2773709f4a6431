package remote

import (
	"fmt"
	"strings"
)

// Quote makes one word of a POSIX shell out of any string without NUL. What
// cannot be misread stays as it is, so that commands can be read in ps.
func Quote(arg string) string {
	if arg != "" && strings.IndexFunc(arg, func(r rune) bool { return !harmlessRune(r) }) < 0 {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

func quoteAll(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = Quote(arg)
	}
	return strings.Join(words, " ")
}

func harmlessRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./,:@+", r)
}

// loginLine is a command for the login shell that lets sh run a script. sshd
// gives it to whatever shell the user has, so it only holds what sh, bash,
// zsh, fish and csh read alike: a word in single quotes, and in it none of
// quote, backslash, line break (csh ends a word there), exclamation mark (csh
// looks into its history) or bytes beyond ASCII (csh decodes them). A script
// that has some of these is written in octal for printf, which all of these
// shells pass on unread: \0 and three digits.
func loginLine(script string) string {
	for i := range len(script) {
		if !bareByte(script[i]) {
			return `exec /bin/sh -c 'eval "$(printf %b "` + octal(script) + `")"'`
		}
	}
	return "exec /bin/sh -c '" + script + "'"
}

// bareByte tells whether a byte may stand in single quotes in every shell.
func bareByte(c byte) bool {
	return c >= ' ' && c < 0x7f && c != '\'' && c != '\\' && c != '!'
}

// octal writes for printf %b inside double quotes of sh.
func octal(script string) string {
	var b strings.Builder
	for i := range len(script) {
		switch c := script[i]; {
		case bareByte(c) && c != '"' && c != '$' && c != '`':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\0%03o`, c)
		}
	}
	return b.String()
}

package sweep

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Shell is the command of a run as one line to paste into a shell: what the
// configuration unsets, its variables, then argv.
func (c Configuration) Shell(argv []string) string {
	var b strings.Builder
	if names := c.Unset(); len(names) > 0 {
		b.WriteString("env")
		for _, name := range names {
			b.WriteString(" -u " + name)
		}
		b.WriteByte(' ')
	}
	for _, e := range c.Environ() {
		name, value, _ := strings.Cut(e, "=")
		b.WriteString(name + "=" + shellWord(value) + " ")
	}
	for i, word := range argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(shellWord(word))
	}
	return b.String()
}

// shellWord quotes one word for a POSIX shell. Words with invisible characters
// are written as $'…', which bash, zsh and ksh read, so that a terminal shows
// what is in them and does not act on it.
func shellWord(s string) string {
	plain, visible := s != "", true
	for _, r := range s {
		plain = plain && r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-./:=,+@%", r))
		visible = visible && unicode.IsPrint(r) && r != utf8.RuneError
	}
	switch {
	case plain:
		return s
	case visible:
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for i, r := range s {
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case unicode.IsPrint(r) && r != utf8.RuneError:
			b.WriteRune(r)
		default:
			// Byte by byte in octal: no shell's locale has a say in it.
			_, size := utf8.DecodeRuneInString(s[i:])
			for _, c := range []byte(s[i : i+size]) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		}
	}
	b.WriteString("'")
	return b.String()
}

package report

import (
	"reflect"
	"regexp"
	"strings"
	"unicode"
)

// escape matches whole terminal sequences (CSI, OSC and the like, DCS, two
// characters), so that no rest of one is left as text.
var escape = regexp.MustCompile("(?s)(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]|\x1b[\\]PX^_].*?(?:\x07|\x1b\\\\|$)|\x1b[ -/]*[0-~]?")

// maxText bounds one piece of text that came from a file or a server.
const maxText = 2000

// clean makes text from files and servers fit for one line of a terminal:
// without escape sequences, control characters and characters that change the
// direction of writing or cannot be seen.
func clean(s string) string {
	s = escape.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' ' // Fields below makes one of many
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp):
			return -1
		}
		return r
	}, s)
	if r := []rune(s); len(r) > maxText {
		s = string(r[:maxText-2]) + " …"
	}
	return strings.Join(strings.Fields(s), " ")
}

// cleanAll cleans every string that v points at, and makes missing lists empty:
// null would mean that they are not known. v is one of this package's own
// tables: structs, slices, pointers and strings.
func cleanAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			cleanAll(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				cleanAll(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			cleanAll(v.Index(i))
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(clean(v.String()))
		}
	}
}

// markdown makes cleaned text fit for a cell or a line of Markdown: nothing in
// it starts markup, ends a cell or becomes HTML.
func markdown(s string) string {
	return markup.Replace(s)
}

var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`,
	"[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`, "$", `\$`)

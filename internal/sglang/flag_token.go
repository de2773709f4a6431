package sglang

import (
	"regexp"
	"strings"
)

// token is one word of the command line as argparse sorts them before it reads
// any.
type token struct {
	text   string
	option bool
	fits   []string // the declared options that it may stand for
	inline *string  // the value of --name=value
}

// negativeNumber is what argparse takes for a value although it begins with a
// dash, since none of sglang's flags looks like a number.
var negativeNumber = regexp.MustCompile(`^-\d+$|^-\d*\.\d+$`)

// sort decides what a word is.
func (fs *FlagSet) sort(text string) token {
	t := token{text: text}
	if !strings.HasPrefix(text, "-") || text == "-" {
		return t
	}
	if _, ok := fs.index[text]; ok {
		return token{text: text, option: true, fits: []string{text}}
	}
	name, value, cutOff := strings.Cut(text, "=")
	if _, ok := fs.index[name]; ok && cutOff {
		return token{text: text, option: true, fits: []string{name}, inline: &value}
	}
	if strings.HasPrefix(text, "--") {
		t.fits = fs.prefixed(name)
	} else if _, ok := fs.index[text[:2]]; ok { // -hx is -h with more short options
		t.fits, cutOff, value = []string{text[:2]}, true, text[2:]
	}
	switch {
	case len(t.fits) > 0:
		t.option = true
		if cutOff {
			t.inline = &value
		}
	case negativeNumber.MatchString(text):
	case text != "--" && strings.Contains(text, " "):
	default:
		t.option = true // of nobody
	}
	return t
}

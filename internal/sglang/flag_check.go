package sglang

import (
	"fmt"
	"slices"
	"strings"
)

// Check says what the server's argument parser would make of flags. It decides
// as Python's argparse does (the rules of 3.8 to 3.12): exact names, unique
// prefixes, --name=value, words that begin with a dash, counts of words, types,
// choices. A list of upstream cannot know what a fork adds, so what an upstream
// list does not have is a warning unless strict; what the installed parser
// refuses is an error. With the list of another version all are warnings.
func (fs *FlagSet) Check(given []Given, strict bool) []FlagProblem {
	var problems []FlagProblem
	for i, g := range given {
		for _, p := range fs.CheckFlag(g, strict) {
			p.Index = i
			problems = append(problems, p)
		}
	}
	return append(problems, fs.Missing(fs.Settings(given, nil))...)
}

// CheckFlag is Check of one flag. Flags do not depend on each other here: each
// begins with its name, which ends the words of the one before. Words without a
// name belong to the command and come first.
func (fs *FlagSet) CheckFlag(g Given, strict bool) []FlagProblem {
	c := check{fs: fs, given: g, strict: strict}
	c.run()
	return c.problems
}

// Missing names required flags that the settings lack. A file of options
// (config) may bring them.
func (fs *FlagSet) Missing(s Settings) []FlagProblem {
	c := check{fs: fs, strict: true}
	for i := range fs.Flags {
		f := &fs.Flags[i]
		if f.Required && !s.has(f.Name()) && !s.has("config") {
			c.refuse(FlagMissing, f.Name(), "the flag "+f.Name()+" is missing", "sglang does not start without it")
		}
	}
	for i := range c.problems {
		c.problems[i].Index = -1
	}
	return c.problems
}

// check looks at one Given.
type check struct {
	fs       *FlagSet
	given    Given
	strict   bool
	told     bool // that a word is taken for a flag
	problems []FlagProblem
}

func (c *check) run() {
	words := c.given.Words
	switch {
	case c.given.Kind == GivenOmit:
		return
	case c.given.Name != "" && c.given.Kind == GivenOff:
		words = []string{"--no-" + c.given.Name}
	case c.given.Name != "":
		words = append([]string{"--" + c.given.Name}, words...)
	}
	tokens := make([]token, len(words))
	for i, w := range words {
		tokens[i] = c.fs.sort(w)
	}
	for i := 0; i < len(tokens); {
		following := i + 1
		for following < len(tokens) && !tokens[following].option {
			following++
		}
		ours := i == 0 && c.given.Name != ""
		switch {
		case !tokens[i].option:
			c.stray("", tokens[i:following])
		case tokens[i].text == "--":
			c.refuse(FlagInValue, c.given.Name, "the word -- ends the flags of a command line", "remove it")
			return // argparse takes nothing for a flag any more
		default:
			c.option(tokens[i], tokens[i+1:following], ours)
		}
		i = following
	}
}

// stray says that words stand where no flag takes them.
func (c *check) stray(after string, words []token) {
	name := after
	if name == "" {
		name = c.given.Name
	}
	c.refuse(FlagManyWords, name, "the server takes no word "+quoted(words[0].text)+" here", "remove it")
}

// option looks at one option and the words behind it. ours is the flag that
// the file names; another one came in by a value.
func (c *check) option(t token, words []token, ours bool) {
	written, _, _ := strings.Cut(t.text, "=")
	name := strings.TrimLeft(written, "-")
	if len(t.fits) > 1 {
		plain := make([]string, len(t.fits))
		for i, o := range t.fits {
			plain[i] = o[2:]
		}
		c.refuse(FlagAmbiguous, name, "the flag "+shown(name)+" is ambiguous", "write "+either(plain))
		return
	}
	if len(t.fits) == 0 {
		c.unknown(name, ours)
		return
	}
	m := c.fs.index[t.fits[0]]
	f := m.flag
	if !ours && c.given.Name != "" && !c.told {
		c.add(FlagProblem{Code: FlagInValue, Grade: GradeError, Flag: c.given.Name,
			Message: fmt.Sprintf("the server takes the word %s of %s for the flag %s", quoted(t.text), c.given.Name, f.Name()), Hint: "set " + f.Name() + " under a key of its own"})
	}
	c.spelling(name, t.fits[0][2-shortDash(t.fits[0]):], f, ours)
	if f.Kind == FlagHelp {
		c.refuse(FlagEnds, name, "with "+shown(written)+" the server prints its help and ends", "remove it")
		return
	}
	c.age(f)
	values := make([]string, len(words))
	for i, w := range words {
		values[i] = w.text
	}
	switch {
	case f.Alone() && t.inline != nil:
		c.refuse(FlagAloneWord, f.Name(), f.Name()+" is a switch and takes no value", "write "+f.Name()+": true, or leave it out")
	case f.Alone() && len(values) > 0:
		c.refuse(FlagAloneWord, f.Name(), fmt.Sprintf("%s is a switch and takes no word, but is given %s", f.Name(), quoted(values[0])),
			"write "+f.Name()+": true, or leave it out")
	case f.Alone():
	case t.inline != nil:
		c.values(f, []string{*t.inline})
		if len(words) > 0 {
			c.stray(f.Name(), words)
		}
	default:
		c.values(f, values)
	}
}

// shortDash is 1 for a name with one dash, whose name begins a byte earlier.
func shortDash(option string) int {
	if strings.HasPrefix(option, "--") {
		return 0
	}
	return 1
}

// spelling warns about a name that is not the full one.
func (c *check) spelling(name, fits string, f *Flag, ours bool) {
	full := f.Name()
	if strings.HasPrefix(fits, "no-") && f.Kind == FlagToggle {
		full = "no-" + full
	}
	switch {
	case name == full || f.Kind == FlagHelp:
	case name == fits:
		c.note(FlagAlias, full, name+" is another name of "+full, "")
	case ours || c.given.Name == "":
		c.add(FlagProblem{Code: FlagShortened, Grade: GradeWarning, Flag: full, Message: "the flag " + shown(name) + " is short for " + full,
			Hint: "write it in full: the next version may have another flag that begins like it"})
	}
}

// values checks the words of a flag: how many, of what type, which choices.
func (c *check) values(f *Flag, words []string) {
	name := f.Name()
	least, most := f.counts()
	switch {
	case len(words) < least:
		hint := "write " + f.example()
		if c.given.Kind == GivenSwitch {
			hint = "it is no switch: " + hint
		}
		if i := slices.IndexFunc(c.given.Words, func(w string) bool { return c.fs.sort(w).option }); i >= 0 {
			c.told = true
			c.refuse(FlagInValue, name, fmt.Sprintf("the server takes the word %s of %s for a flag", quoted(c.given.Words[i]), name), dashHint)
			return
		}
		c.refuse(FlagNoWord, name, fmt.Sprintf("%s needs %s", name, need(least, f.Type)), hint)
	case len(words) > most:
		c.refuse(FlagManyWords, name, fmt.Sprintf("%s takes %s, but is given %d words", name, need(most, f.Type), len(words)), "write "+f.example())
		words = words[:most]
	}
	for _, w := range words {
		switch {
		case !f.Type.reads(w):
			c.refuse(FlagValue, name, fmt.Sprintf("%s takes %s, not %s", name, f.Type.wanted(), quoted(w)), "")
		case !f.takes(w):
			c.choice(f, w)
		case f.Default == "{}" && f.Type == TypeText && !pythonJSON(w):
			// Read by the server itself, after argparse.
			c.add(FlagProblem{Code: FlagValue, Grade: GradeError, Flag: name, Message: name + " takes JSON, but " + quoted(w) + " is none",
				Hint: "write a map: sweep makes one word of JSON of it"})
		case f.Type == TypeBool && slices.Contains([]string{"0", "false", "no", "off", "none"}, strings.ToLower(w)):
			c.add(FlagProblem{Code: FlagFalseWord, Grade: GradeWarning, Flag: name, Message: fmt.Sprintf("the server reads %s for %s as true", quoted(w), name),
				Hint: "it reads every word as true; only an empty one is false"})
		}
	}
}

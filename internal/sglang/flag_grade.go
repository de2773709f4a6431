package sglang

import (
	"fmt"
	"strings"
)

const dashHint = "a value cannot begin with a dash, unless it is a number or has a space"

// refuse reports what argparse refuses. How bad that is depends on where the
// list is from.
func (c *check) refuse(code, name, message, hint string) {
	if !c.fs.Exact() {
		message += ", by " + c.fs.Source()
	}
	c.add(FlagProblem{Code: code, Grade: c.grade(code), Refused: true, Flag: name, Message: message, Hint: hint})
}

func (c *check) grade(code string) Grade {
	switch {
	case c.fs.Installed, c.strict:
		return GradeError
	case !c.fs.Exact():
		return GradeWarning
	case code == FlagUnknown, code == FlagChoice:
		return GradeWarning // a fork may have it
	}
	return GradeError
}

func (c *check) note(code, name, message, hint string) {
	c.add(FlagProblem{Code: code, Grade: GradeNote, Flag: name, Message: message, Hint: hint})
}

func (c *check) add(p FlagProblem) {
	c.problems = append(c.problems, p)
}

// unknown says what is known of a flag that the list does not have: another
// name, the version that brought it or dropped it.
func (c *check) unknown(name string, ours bool) {
	p := FlagProblem{Code: FlagUnknown, Grade: c.grade(FlagUnknown), Refused: true, Flag: name, Word: name}
	p.Message = fmt.Sprintf("%s has no flag %s", c.fs.Source(), shown(name))
	if !ours && c.given.Name != "" {
		if c.told {
			return
		}
		p.Code, p.Grade, p.Flag, p.Word = FlagInValue, c.grade(FlagInValue), c.given.Name, ""
		p.Message = fmt.Sprintf("the server takes the word %s of %s for a flag", quoted("--"+name), c.given.Name)
		p.Hint = dashHint
		c.add(p)
		return
	}
	base, off := strings.CutPrefix(name, "no-")
	switch f := c.fs.Lookup(base); {
	case off && f != nil && f.Alone():
		p.Code, p.Grade, p.Word = FlagNoOff, c.grade(FlagNoOff), ""
		p.Message, p.Hint = base+" is a switch without an off form", "leave it out"
	case off && f != nil:
		p.Code, p.Grade, p.Word = FlagNoOff, c.grade(FlagNoOff), ""
		p.Message, p.Hint = base+" takes "+f.Type.wanted()+" and cannot be turned off", "leave it out"
	default:
		p.Hint = c.fs.history(name)
	}
	if p.Word != "" && p.Hint == "" {
		p.Among = c.fs.Names()
	}
	c.add(p)
}

func (c *check) choice(f *Flag, word string) {
	p := FlagProblem{Code: FlagChoice, Grade: c.grade(FlagChoice), Refused: true, Flag: f.Name(), Word: word, Among: f.Choices}
	p.Message = fmt.Sprintf("%s cannot be %s by %s", f.Name(), quoted(word), c.fs.Source())
	p.Hint = "write " + either(f.Choices)
	if other := c.fs.choiceElsewhere(f.Name(), word); other != "" {
		p.Hint = other
	}
	c.add(p)
}

// age says that a flag is on its way out. Of a version that nobody knows that is
// only a note: the flag's successor may not be there yet.
func (c *check) age(f *Flag) {
	instead := f.Instead
	if instead == "" {
		instead = c.fs.replacement(f.Name())
	}
	if !f.Deprecated && instead == "" {
		return
	}
	p := FlagProblem{Code: FlagOld, Grade: GradeWarning, Flag: f.Name(), Message: f.Name() + " is deprecated in " + c.fs.Source()}
	if f.Ignored {
		p.Message, p.Hint = f.Name()+" does nothing any more in "+c.fs.Source(), "remove it"
	}
	if c.fs.Asked == unknownVersion { // what it depends on comes first
		p.Grade = GradeNote
		does := " is deprecated"
		if f.Ignored {
			does = " does nothing any more"
		}
		p.Message = "in sglang " + c.fs.Version + ", whose list is used because the installed version is not known: " + f.Name() + does
	}
	if instead != "" {
		p.Hint = "write " + strings.TrimLeft(instead, "-")
	}
	c.add(p)
}

// quoted shows a word of a value in a message.
func quoted(word string) string { return `"` + cut(Plain(word), 60) + `"` }

// shown is a name in a message.
func shown(name string) string { return cut(Plain(name), 100) }

// either joins alternatives: a, b or c; many are cut short.
func either(words []string) string {
	const most = 6
	more := ""
	if len(words) > most {
		more = fmt.Sprintf(" (and %d more)", len(words)-most)
		words = words[:most]
	}
	if len(words) == 1 {
		return words[0] + more
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1] + more
}

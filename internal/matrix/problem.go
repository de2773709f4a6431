package matrix

import (
	"fmt"
	"strings"
)

// Problem is one thing that is wrong with a matrix, at its place in the file.
type Problem struct {
	Pos     Pos
	Message string // what is wrong, lower case, one sentence
	Hint    string // what to do about it; may be empty
}

// Problems are all the problems found, as an error.
type Problems []Problem

func (p Problems) Error() string {
	var b strings.Builder
	for i, problem := range p {
		if i > 0 {
			b.WriteByte('\n')
		}
		if problem.Pos != (Pos{}) {
			fmt.Fprintf(&b, "%d:%d: ", problem.Pos.Line, problem.Pos.Column)
		}
		b.WriteString(problem.Message)
		if problem.Hint != "" {
			b.WriteString(" (" + problem.Hint + ")")
		}
	}
	return b.String()
}

// err is nil for no problems: a nil Problems in an error is not a nil error.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

func (p *Problems) add(pos Pos, hint, format string, args ...any) {
	*p = append(*p, Problem{Pos: pos, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// place is where label i of a rule stands, or the rule itself.
func place(places []Place, i int, rule Pos) Place {
	if i < len(places) {
		return places[i]
	}
	return Place{rule, rule}
}

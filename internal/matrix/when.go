package matrix

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// Bounds of one condition, in characters and in nodes of its syntax tree. Both
// are far above what a person writes and keep a hostile file cheap.
const (
	maxWhen      = 4096
	maxWhenNodes = 500
)

// When is the condition of a rule: an expression over one combination, in the
// language of expr-lang/expr. It sees
//
//	axis.<name>, axis["name"]    the label on an axis, text
//	flags["name"]                a flag: a number if it reads as one, else text, true for a switch, nil if absent
//	env["NAME"]                  a variable, text; nil if absent or unset
//
// and can compare and calculate, but neither loop nor call anything of cost:
// what it may hold is a list of what is allowed, see whenCheck.
type When struct {
	Flags []Reference // the flags that it asks for
	Env   []Reference // the variables

	text    string
	places  []Pos // of each character of text in the file; may be shorter
	axes    []string
	nodes   int
	program *vm.Program
}

// Reference is a name that a condition asks for, and where.
type Reference struct {
	Name string
	Pos  Pos
}

// whenWorld is what a condition sees; its fields are the words of the language.
type whenWorld struct {
	Axis  map[string]string `expr:"axis"`
	Flags map[string]any    `expr:"flags"`
	Env   map[string]any    `expr:"env"`
}

// CompileWhen reads a condition and checks its types and names against the
// axes. places tells for each character of text where it stands in the file;
// characters beyond it stand at the last one.
func CompileWhen(text string, places []Pos, axes []Axis) (*When, Problems) {
	w := &When{text: text, places: places}
	var problems Problems
	switch n := len([]rune(text)); {
	case strings.TrimSpace(text) == "":
		problems.add(w.place(0), `for example 'axis.parallel == "tp8"'`, "when is empty")
		return nil, problems
	case n > maxWhen:
		problems.add(w.place(0), "split it into several rules", "when is %d characters long, more than %d", n, maxWhen)
		return nil, problems
	}
	tree, err := parser.Parse(text)
	if err != nil {
		w.complain(err, &problems)
		return nil, problems
	}
	check := whenCheck{when: w, axes: axes, problems: &problems}
	check.node(tree.Node)
	if w.nodes > maxWhenNodes && len(problems) == 0 {
		problems.add(w.place(0), "split it into several rules", "when has more than %d terms", maxWhenNodes)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	w.program, err = expr.Compile(text, expr.Env(whenWorld{}), expr.AsBool(), expr.WarnOnAny(), expr.MaxNodes(2*maxWhenNodes))
	if err != nil {
		w.complain(err, &problems)
		return nil, problems
	}
	return w, nil
}

// Text is the condition as it was written.
func (w *When) Text() string { return w.text }

// place is where a character of the condition stands in the file.
func (w *When) place(at int) Pos {
	switch {
	case len(w.places) == 0:
		return Pos{}
	case at >= len(w.places):
		return w.places[len(w.places)-1]
	}
	return w.places[max(at, 0)]
}

// complain turns what expr says into a problem at its place in the file.
func (w *When) complain(err error, problems *Problems) {
	at, message := 0, err.Error()
	var located *file.Error
	if errors.As(err, &located) {
		at, message = located.From, located.Message
	}
	message, _, _ = strings.Cut(message, "\n")
	hint := w.dashed(at)
	for _, c := range []struct{ has, say, hint string }{
		{"expected bool, but got interface {}", "when must be true or false, and a flag alone may be neither", `compare it: flags["name"] == true`},
		{"expected bool, but got", "when must be true or false, not " + plainTypes.Replace(strings.TrimPrefix(message, "expected bool, but got ")), `for example 'axis.parallel == "tp8"'`},
		{"unexpected token EOF", "when ends in the middle of an expression", "finish it: a comparison has two sides, and each ( and [ is closed"},
		{"unexpected token Operator(\"=\")", "when compares with ==, not with =", "write == in its place"},
		{"unexpected token", "when has " + tokenWords(message) + " where none can be", "join comparisons with && or ||, quote texts, and close each ( and ["},
		{"literal not terminated", "a text in when has no closing quote", "close it with the quote that it begins with"},
		{"mismatched types", "when compares or adds what does not go together" + typeWords(message), "a label and a variable are text: quote what they are compared with"},
		{"integer divide by zero", "when divides by zero", "divide by something else"},
	} {
		if strings.Contains(message, c.has) {
			message = c.say
			if hint == "" {
				hint = c.hint
			}
			break
		}
	}
	if !strings.HasPrefix(message, "when ") && !strings.HasPrefix(message, "a text in when") {
		message = "when cannot be read: " + message
	}
	if hint == "" {
		hint = whenExample
	}
	problems.add(w.place(at), hint, "%s", message)
}

// tokenWords is the token of expr's `unexpected token Kind("text")`.
func tokenWords(message string) string {
	_, token, _ := strings.Cut(message, "(")
	if token, _, ok := strings.Cut(token, ")"); ok && token != `"` {
		return token
	}
	return "something"
}

// typeWords is the parenthesis of expr's "(mismatched types string and int)".
func typeWords(message string) string {
	_, types, ok := strings.Cut(message, "mismatched types ")
	types, _, closed := strings.Cut(types, ")")
	if !ok || !closed {
		return ""
	}
	return ": " + plainTypes.Replace(types)
}

var plainTypes = strings.NewReplacer("string", "text", "int", "a number", "float64", "a number", "bool", "true or false", "nil", "nothing")

// whenExample is what to do where nothing better is known.
const whenExample = `for example 'axis.parallel == "tp8" && flags["tp-size"] > 4'`

const dashedHint = "a name with dashes stands in brackets"

// dashed is the hint for a name with dashes after a dot, which reads as a
// subtraction: axis.cuda-graph.
func (w *When) dashed(near int) string {
	runes := []rune(w.text)
	for _, word := range []string{"axis", "flags", "env"} {
		dotted := []rune(word + ".")
		for from := 0; from+len(dotted) < len(runes); from++ {
			if string(runes[from:from+len(dotted)]) != string(dotted) {
				continue
			}
			to, dashes := from+len(dotted), 0
			for to < len(runes) && (runes[to] == '-' || runes[to] == '_' || isLetter(runes[to])) {
				if runes[to] == '-' {
					dashes++
				}
				to++
			}
			if dashes > 0 && near >= from && near <= to {
				return fmt.Sprintf(dashedHint+": %s[%q]", word, string(runes[from+len(dotted):to]))
			}
		}
	}
	return ""
}

func isLetter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

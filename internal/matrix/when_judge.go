package matrix

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
)

// maxJudging bounds the work of all conditions of an expansion, in terms
// looked at: about a second.
const maxJudging = 20_000_000

// judge answers one condition for every point of a matrix. What a condition
// asks for is known, so it is answered once for each combination of the axes
// that this depends on, mostly a handful, and then looked up.
type judge struct {
	when    *When
	axes    []int // those that matter, in axis order
	sizes   []int
	answers []answer // by the mixed-radix number of the values on those axes
	world   whenWorld
	set     []judged
	vm      vm.VM
	broken  bool // it has no answer somewhere, and that has been said
}

type answer byte

const (
	unasked answer = iota
	isFalse
	isTrue
)

// judged fills in one name of the world from the value on one axis.
type judged struct {
	into   map[string]any
	name   string
	base   any
	axis   int   // -1: no axis sets it
	values []any // by value of the axis
	has    []bool
}

// newJudge binds a condition to the settings of a matrix.
func newJudge(w *When, m *Matrix) *judge {
	j := &judge{when: w, world: whenWorld{Axis: map[string]string{}, Flags: map[string]any{}, Env: map[string]any{}}}
	matters := make([]bool, len(m.Axes))
	for i, a := range m.Axes {
		for _, name := range w.axes {
			matters[i] = matters[i] || a.Name == name
		}
	}
	bind := func(into map[string]any, target Target, refs []Reference) {
		for _, ref := range refs {
			b := m.bind(into, target, ref.Name)
			if b.axis >= 0 {
				matters[b.axis] = true
			}
			j.set = append(j.set, b)
		}
	}
	bind(j.world.Flags, Flag, w.Flags)
	bind(j.world.Env, Env, w.Env)
	size := 1
	for i, a := range m.Axes {
		if matters[i] {
			j.axes = append(j.axes, i)
			j.sizes = append(j.sizes, len(a.Values))
			size *= len(a.Values)
		}
	}
	j.answers = make([]answer, size)
	return j
}

// bind finds who sets a flag or variable: the base, and at most one axis, since
// two are refused.
func (m *Matrix) bind(into map[string]any, target Target, name string) judged {
	b := judged{into: into, name: name, axis: -1}
	for _, s := range m.Base {
		if s.Target == target && s.Name == name {
			b.base = seen(target, s.Value)
		}
	}
	for i, a := range m.Axes {
		for v, value := range a.Values {
			for _, s := range value.Settings {
				if s.Target != target || s.Name != name {
					continue
				}
				if b.axis != i {
					b.axis, b.values, b.has = i, make([]any, len(a.Values)), make([]bool, len(a.Values))
				}
				b.values[v], b.has[v] = seen(target, s.Value), true
			}
		}
	}
	return b
}

var plainNumber = regexp.MustCompile(`^[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$`)

// seen is a value as a condition sees it: of a flag a number if it reads as one,
// of a variable always text.
func seen(target Target, v Value) any {
	switch v.Kind {
	case Omit:
		return nil
	case Switch:
		return true
	case Off:
		return false
	case Word:
		if target == Flag && plainNumber.MatchString(v.Words[0]) {
			if n, err := strconv.Atoi(v.Words[0]); err == nil {
				return n
			}
			if f, err := strconv.ParseFloat(v.Words[0], 64); err == nil {
				return f
			}
		}
	}
	return strings.Join(v.Words, " ")
}

// cost is the most that the condition can take, in terms.
func (j *judge) cost() int { return len(j.answers) * max(j.when.nodes, 1) }

// matches answers for the point of the product at a choice.
func (j *judge) matches(axes []Axis, choice []int32) (bool, error) {
	at := 0
	for i, axis := range j.axes {
		at = at*j.sizes[i] + int(choice[axis])
	}
	if j.answers[at] == unasked {
		yes, err := j.ask(axes, choice)
		if err != nil {
			return false, err
		}
		j.answers[at] = isFalse
		if yes {
			j.answers[at] = isTrue
		}
	}
	return j.answers[at] == isTrue, nil
}

func (j *judge) ask(axes []Axis, choice []int32) (bool, error) {
	for _, axis := range j.axes {
		j.world.Axis[axes[axis].Name] = axes[axis].Values[choice[axis]].Label
	}
	for _, b := range j.set {
		value := b.base
		if b.axis >= 0 && b.has[choice[b.axis]] {
			value = b.values[choice[b.axis]]
		}
		b.into[b.name] = value
	}
	result, err := j.vm.Run(j.when.program, j.world)
	if err != nil {
		return false, err
	}
	yes, ok := result.(bool)
	if !ok {
		return false, errors.New("it is neither true nor false there")
	}
	return yes, nil
}

// trouble says why a condition has no answer at a point: mostly a flag that is
// not set there, or text where a number was expected.
func (j *judge) trouble(err error, name string, problems *Problems) {
	at, message := 0, err.Error()
	var located *file.Error
	if errors.As(err, &located) {
		at, message = located.From, located.Message
	}
	message, _, _ = strings.Cut(message, "\n")
	message = strings.NewReplacer("interface conversion: ", "", "interface {}", "it", "<nil>", "nil", "string", "text", "float64", "number", "int", "number").Replace(message)
	hint := "text can be compared with ==, and numbers with < and > too"
	switch {
	case strings.Contains(message, "nil"):
		hint = `say what happens where it is not set: flags["name"] != nil && …`
	case strings.Contains(message, "divide by zero"):
		hint = `say what happens where it is 0: flags["name"] != 0 && …`
	case strings.Contains(message, "not bool"), strings.Contains(message, "neither true nor false"):
		hint = `make it a comparison: flags["name"] == true, or flags["name"] > 1`
	}
	problems.add(j.when.place(at), hint, "when has no answer at %s: %s", name, message)
}

package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// whenCheck walks the syntax tree of a condition. It lets through only what is
// listed here, so that nothing of the language can loop, allocate without
// bound, or look at anything but one combination; and since every name is
// written out, it is known what a condition depends on.
type whenCheck struct {
	when     *When
	axes     []Axis
	problems *Problems
}

// whenFunctions are the functions whose cost is that of their arguments.
var whenFunctions = []string{"abs", "ceil", "float", "floor", "hasPrefix", "hasSuffix", "int", "len", "lower", "max", "min", "round", "string", "trim", "upper"}

func (c whenCheck) problem(n ast.Node, hint, format string, args ...any) {
	if strings.HasPrefix(hint, dashedHint) && slices.ContainsFunc(*c.problems, func(p Problem) bool { return p.Hint == hint }) {
		return // the other half of the same name
	}
	c.problems.add(c.when.place(n.Location().From), hint, format, args...)
}

func (c whenCheck) node(n ast.Node) {
	if c.when.nodes++; c.when.nodes > maxWhenNodes {
		return
	}
	switch n := n.(type) {
	case *ast.NilNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode:
	case *ast.IdentifierNode:
		c.identifier(n)
	case *ast.MemberNode:
		c.member(n)
	case *ast.UnaryNode:
		c.node(n.Node)
	case *ast.BinaryNode:
		c.binary(n)
	case *ast.ConditionalNode:
		c.nodes(n.Cond, n.Exp1, n.Exp2)
	case *ast.ArrayNode:
		c.nodes(n.Nodes...)
	case *ast.BuiltinNode:
		c.call(n, n.Name, n.Arguments)
	case *ast.CallNode:
		name := "that"
		if id, ok := n.Callee.(*ast.IdentifierNode); ok {
			name = id.Value
		}
		c.call(n, name, n.Arguments)
	default:
		c.problem(n, "compare labels, flags and variables with ==, <, in, and, or, not", "when cannot use this part of the expression language")
	}
}

func (c whenCheck) nodes(nodes ...ast.Node) {
	for _, n := range nodes {
		c.node(n)
	}
}

func (c whenCheck) identifier(n *ast.IdentifierNode) {
	switch n.Value {
	case "axis", "flags", "env":
		c.problem(n, fmt.Sprintf("name what is asked for: %s[\"name\"]", n.Value), "%s stands alone in when", n.Value)
		return
	}
	hint := c.when.dashed(n.Location().From)
	if hint == "" {
		for _, a := range c.axes {
			if a.Name == n.Value {
				hint = "did you mean axis." + n.Value + "?"
			}
		}
	}
	if hint == "" {
		hint = `when sees axis.<name>, flags["name"] and env["NAME"]`
	}
	c.problem(n, hint, "when does not know the name %q", n.Value)
}

// member is axis.name, flags["name"] or env["NAME"].
func (c whenCheck) member(n *ast.MemberNode) {
	id, ok := n.Node.(*ast.IdentifierNode)
	if !ok || (id.Value != "axis" && id.Value != "flags" && id.Value != "env") {
		if ok {
			c.identifier(id)
			return
		}
		c.problem(n, `when sees axis.<name>, flags["name"] and env["NAME"]`, "when looks for a part of something that has none")
		return
	}
	name, ok := n.Property.(*ast.StringNode)
	if !ok {
		c.problem(n.Property, fmt.Sprintf("quote it: %s[\"name\"]", id.Value), "%s wants a name written out", id.Value)
		return
	}
	ref := Reference{Name: name.Value, Pos: c.when.place(name.Location().From)}
	switch id.Value {
	case "flags":
		c.when.Flags = addReference(c.when.Flags, ref)
	case "env":
		c.when.Env = addReference(c.when.Env, ref)
	default:
		c.axis(name)
	}
}

func addReference(all []Reference, r Reference) []Reference {
	if slices.ContainsFunc(all, func(have Reference) bool { return have.Name == r.Name }) {
		return all
	}
	return append(all, r)
}

func (c whenCheck) axis(name *ast.StringNode) *Axis {
	for i, a := range c.axes {
		if a.Name == name.Value {
			if !slices.Contains(c.when.axes, a.Name) {
				c.when.axes = append(c.when.axes, a.Name)
			}
			return &c.axes[i]
		}
	}
	hint := c.when.dashed(name.Location().From)
	if hint == "" {
		hint = axisHint(c.axes, name.Value)
	}
	c.problem(name, hint, "when names the axis %q, which the matrix does not have", name.Value)
	return nil
}

// binary also looks at labels that an axis is compared with: one that the axis
// does not have makes a rule that is never, or always, true.
func (c whenCheck) binary(n *ast.BinaryNode) {
	if n.Operator == ".." || n.Operator == "matches" {
		c.problem(n, `use ==, in [...], startsWith, endsWith or contains`, "when cannot use %s", n.Operator)
		return
	}
	c.nodes(n.Left, n.Right)
	switch n.Operator {
	case "==", "!=":
		c.label(n.Left, n.Right)
		c.label(n.Right, n.Left)
	case "in", "not in":
		if list, ok := n.Right.(*ast.ArrayNode); ok {
			for _, item := range list.Nodes {
				c.label(n.Left, item)
			}
		}
	}
}

func (c whenCheck) label(side, with ast.Node) {
	member, ok := side.(*ast.MemberNode)
	if !ok {
		return
	}
	id, ok := member.Node.(*ast.IdentifierNode)
	name, named := member.Property.(*ast.StringNode)
	word, literal := with.(*ast.StringNode)
	if !ok || id.Value != "axis" || !named || !literal {
		return
	}
	for _, a := range c.axes {
		if a.Name == name.Value && !slices.ContainsFunc(a.Values, func(v AxisValue) bool { return v.Label == word.Value }) {
			c.problem(word, valueHint(a, word.Value), "when compares with %q, which is no value of the axis %q", word.Value, a.Name)
		}
	}
}

func (c whenCheck) call(n ast.Node, name string, arguments []ast.Node) {
	if !slices.Contains(whenFunctions, name) {
		hint := Suggest(name, whenFunctions)
		if hint == "" || len(name) <= 3 {
			hint = "its functions are " + joined(whenFunctions)
		}
		c.problem(n, hint, "when has no function %s", name)
		return
	}
	c.nodes(arguments...)
}

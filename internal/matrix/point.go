package matrix

import "strings"

// BaselineName is what --only, as every table, calls the configuration that the
// others are compared with, where none has that name of its own.
const BaselineName = "baseline"

// BaseName is the name of the one point of a matrix without axes.
const BaseName = "base"

// Point is one combination: an index into each axis's values. It holds no
// names or settings of its own, so that a hundred thousand of them are cheap.
type Point struct {
	Choice  []int32  // by axis; Any where an include sets what the axis would
	Include *Include // nil for a point of the product
}

// Drop is a point that a rule removed.
type Drop struct {
	Point Point
	Rule  *Rule // the first rule in file order that matched
}

// Name is `axis=label,axis=label`, or the name that an include gives.
func (e *Expansion) Name(p Point) string {
	if p.Include != nil {
		return p.Include.Name
	}
	if len(p.Choice) == 0 {
		return BaseName
	}
	size := len(p.Choice) - 1
	for i, v := range p.Choice {
		size += len(e.Axes[i].Name) + 1 + len(e.Axes[i].Values[v].Label)
	}
	var b strings.Builder
	b.Grow(size)
	for i, v := range p.Choice {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(e.Axes[i].Name)
		b.WriteByte('=')
		b.WriteString(e.Axes[i].Values[v].Label)
	}
	return b.String()
}

// Labels appends the labels of a point to dst, in axis order. Axes that an
// include overrides have none.
func (e *Expansion) Labels(dst []Label, p Point) []Label {
	for i, v := range p.Choice {
		if v != Any {
			dst = append(dst, Label{Axis: e.Axes[i].Name, Value: e.Axes[i].Values[v].Label})
		}
	}
	return dst
}

package matrix

import "strings"

// Any stands in a choice for an axis that is not named.
const Any = -1

// index finds axes and labels by name.
type index struct {
	axes   map[string]int
	labels []map[string]int
}

func newIndex(axes []Axis) index {
	ix := index{axes: make(map[string]int, len(axes)), labels: make([]map[string]int, len(axes))}
	for i, a := range axes {
		ix.axes[a.Name] = i
		ix.labels[i] = make(map[string]int, len(a.Values))
		for j, v := range a.Values {
			ix.labels[i][v.Label] = j
		}
	}
	return ix
}

// choice turns labels into the value picked on each axis, Any where none is
// named, and says for each label what is unknown about it.
func (ix index) choice(axes []Axis, labels []Label, places []Place, pos Pos, who string, problems *Problems) []int32 {
	picked := make([]int32, len(axes))
	for i := range picked {
		picked[i] = Any
	}
	for i, l := range labels {
		at := place(places, i, pos)
		a, ok := ix.axes[l.Axis]
		if !ok {
			problems.add(at.Axis, axisHint(axes, l.Axis), "%s names the axis %q, which the matrix does not have", who, l.Axis)
			continue
		}
		v, ok := ix.labels[a][l.Value]
		if len(axes[a].Values) == 0 {
			continue // said where the axis is
		}
		if !ok {
			problems.add(at.Value, valueHint(axes[a], l.Value), "%s names %q, which is no value of the axis %q", who, l.Value, l.Axis)
			continue
		}
		if picked[a] != Any && picked[a] != int32(v) {
			problems.add(at.Axis, "keep one of them; a rule for each says either", "%s names two values of the axis %q", who, l.Axis)
			continue
		}
		picked[a] = int32(v)
	}
	return picked
}

func axisHint(axes []Axis, word string) string {
	names := make([]string, 0, len(axes))
	for _, a := range axes {
		names = append(names, a.Name)
	}
	if s := Suggest(word, names); s != "" {
		return s
	}
	if len(names) == 0 {
		return "there is no matrix in this file"
	}
	return "the axes are " + list(names)
}

func valueHint(a Axis, word string) string {
	names := make([]string, 0, len(a.Values))
	for _, v := range a.Values {
		names = append(names, v.Label)
	}
	if s := Suggest(word, names); s != "" {
		return s
	}
	return "its values are " + list(names)
}

// joined names all of a few things.
func joined(names []string) string { return strings.Join(names, ", ") }

// list names a few things and says how many more there are.
func list(names []string) string {
	const most = 8
	text := ""
	for i, n := range names {
		if i == most {
			return text + ", …"
		}
		if i > 0 {
			text += ", "
		}
		text += n
	}
	return text
}

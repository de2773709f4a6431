package sweep

import (
	"fmt"
	"testing"

	"sweep/internal/matrix"
)

func TestWhere(t *testing.T) {
	p := &Plan{}
	for _, a := range []string{"x", "y"} {
		for _, b := range []string{"1", "2", "3"} {
			for _, c := range []string{"p", "q"} {
				p.Configurations = append(p.Configurations, Configuration{Name: fmt.Sprintf("a=%s,b=%s,c=%s", a, b, c),
					Labels: []matrix.Label{{Axis: "a", Value: a}, {Axis: "b", Value: b}, {Axis: "c", Value: c}}})
			}
		}
	}
	w := newWhere(p)
	for _, c := range []struct {
		configs []int32
		want    string
	}{
		{[]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, ""},
		{[]int32{3}, ", in a=x,b=2,c=q"},
		{[]int32{6, 7, 8, 9, 10, 11}, ", in 6 configurations with a=y"},
		{[]int32{2, 3, 8, 9}, ", in 4 configurations with b=2"},
		{[]int32{2, 3}, ", in 2 configurations with a=x,b=2"},
		{[]int32{0, 2}, ", in 2 configurations, the first is a=x,b=1,c=p"},
		{[]int32{0, 11}, ", in 2 configurations, the first is a=x,b=1,c=p"},
	} {
		if got := w.text(c.configs); got != c.want {
			t.Errorf("%v: %q, want %q", c.configs, got, c.want)
		}
	}
}

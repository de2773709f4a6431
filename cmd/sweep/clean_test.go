package main

import (
	"testing"

	"sweep/internal/launch"
)

// TestCleanNext: the command that is told ends what was found, typed where it
// is read.
func TestCleanNext(t *testing.T) {
	left, kept := launch.Instance{Name: "a"}, launch.Instance{Name: "sweep-kept-c1", Labels: map[string]string{"kept": "x"}}
	for _, c := range []struct {
		found      []launch.Instance
		host, name string
		yes        bool
		want       string
	}{
		{nil, "local", "", false, "nothing of sweep's is left on this host"},
		{[]launch.Instance{left}, "local", "", false, "`sweep clean --yes` ends it; `sweep run` of the same file goes on with it"},
		{[]launch.Instance{left}, "lab1", "", false, "`sweep clean lab1 --yes` ends it; `sweep run` of the same file goes on with it"},
		{[]launch.Instance{left}, "lab1", "", true, ""},
		{[]launch.Instance{left, kept}, "lab1", "", true, "what was launched to stay is ended only by its name: `sweep clean lab1 NAME --yes`"},
		{[]launch.Instance{kept}, "lab1", "sweep-kept-c1", false, "`sweep clean lab1 sweep-kept-c1 --yes` ends it"},
		{[]launch.Instance{kept}, "local", "sweep-kept-c1", false, "`sweep clean local sweep-kept-c1 --yes` ends it"},
		{[]launch.Instance{kept}, "local", "sweep-kept-c1", true, ""},
	} {
		if got := cleanNext(c.found, c.host, c.name, c.yes); got != c.want {
			t.Errorf("%s %s yes=%v: got %q, want %q", c.host, c.name, c.yes, got, c.want)
		}
	}
}

package check

import (
	"context"
	"errors"
	"testing"

	"sweep/internal/launch"
	"sweep/internal/matrix"
	"sweep/internal/sweep"
)

// leaving is a runtime in which instances are left.
type leaving struct {
	*place
	left []launch.Instance
	err  error
}

var _ launch.Runtime = (*leaving)(nil)

func (l *leaving) List(context.Context) ([]launch.Instance, error) { return l.left, l.err }

func stays(in launch.Instance) bool { return in.Labels["stays"] != "" }

var (
	dead    = launch.Instance{Name: "sweep-old", Labels: map[string]string{"sweep": "night"}}
	staying = launch.Instance{Name: "sweep-kept-c1", Labels: map[string]string{"sweep": "launch", "stays": "tp8"}}
)

func TestWhatADeadSweepLeft(t *testing.T) {
	o := options(t, &leaving{place: well(), left: []launch.Instance{dead}}, smi{cards: eight(1)})
	wants(t, checked(t, inIncus(), o), Host, "leftovers", Warn, "sweep-old", "sweep clean")
}

// `sweep run` does not start beside a server that was launched to stay, in
// whichever runtime of the host, so that check says so before.
func TestAServerThatStays(t *testing.T) {
	o := options(t, &leaving{place: well(), left: []launch.Instance{dead, staying}}, smi{cards: eight(1)})
	o.Kept = stays
	r := checked(t, inIncus(), o)
	wants(t, r, Host, "kept", Fail, "sweep-kept-c1 was launched to stay", "refuses", "`sweep clean local sweep-kept-c1 --yes`")
	if x := find(r, Host, "leftovers"); x.Finding != "a dead sweep left sweep-old" {
		t.Errorf("leftovers: %q", x.Finding)
	}

	o = options(t, well(), smi{cards: eight(1)})
	o.Kept = stays
	o.Others = func(context.Context) []launch.Runtime {
		return []launch.Runtime{&leaving{err: errors.New("hangs")}, &leaving{left: []launch.Instance{staying}}}
	}
	there := inIncus()
	there.Host = "rtx6k"
	r = checked(t, there, o)
	wants(t, r, Host, "kept", Fail, "`sweep clean rtx6k sweep-kept-c1 --yes`")
	if x := find(r, Host, "leftovers"); x.Grade != "" {
		t.Errorf("leftovers: %+v", x)
	}

	plan := planOf(sweep.Configuration{Command: []string{"sweep", "sim"}, Flags: []matrix.Setting{flag("model-path", "sim/small")}, Container: sweep.Container{Runtime: "lxc", Instance: "glm5"}})
	wants(t, checked(t, plan, o), Host, "kept", Warn, "may disturb", "sweep clean local sweep-kept-c1 --yes")
}

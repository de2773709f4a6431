package bench

import (
	"testing"
	"time"
)

// The kernel's stamp is a time of the wall clock. Where that was set meanwhile,
// or there is none, the time of the read is what is known.
func TestTimesOfArrival(t *testing.T) {
	e := &eventLoop{base: time.Now().Add(-10 * time.Second)}
	s := &slot{x: newExchange(0, 1, 1, nil)}
	s.x.sent, s.x.lastByte = time.Second, 2*time.Second
	wall := func(ago time.Duration) time.Duration { return time.Duration(time.Now().Add(-ago).UnixNano()) }
	for name, c := range map[string]struct {
		received time.Duration
		at       time.Duration
		stamped  bool
	}{
		"a second ago":           {wall(time.Second), 9 * time.Second, true},
		"six seconds ago":        {wall(6 * time.Second), 4 * time.Second, true},
		"no stamp":               {0, 10 * time.Second, false},
		"in the future":          {wall(-time.Second), 10 * time.Second, false},
		"before what came last":  {wall(9 * time.Second), 10 * time.Second, false},
		"a hair before the last": {wall(8*time.Second + 200*time.Microsecond), 2 * time.Second, true},
	} {
		at, late := e.times(s, c.received)
		if off := at - c.at; off < -300*time.Microsecond || off > 100*time.Millisecond || (late != unstamped) != c.stamped {
			t.Errorf("%s: at %s, lag %d", name, at, late)
		}
	}
}

func TestLocalPortsAreCounted(t *testing.T) {
	have := localPorts()
	if have < 1 {
		t.Fatalf("%d local ports", have)
	}
	if err := ensurePorts(have); err != nil {
		t.Error(err)
	}
	if err := ensurePorts(have + 1); err == nil {
		t.Errorf("%d connections from %d ports are accepted", have+1, have)
	}
}

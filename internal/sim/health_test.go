package sim

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// A04: health stays green over a scheduler that gives nothing; a sane server
// says so.
func TestA04StallShowsInHealthUnlessHealthLies(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]int{"": http.StatusServiceUnavailable, "healthy": http.StatusOK} {
		args := []string{"--time-scale", "200", "--fault", "stall:1"}
		if fault != "" {
			args = append(args, "--fault", fault)
		}
		l := start(t, args...).ready()
		go func() { _, _ = l.stream(body(1, 8, 400)) }() // gets its first token and no more
		l.log.wait(t, `#new-token: 8,`)
		code, _ := l.get("/health")
		for i := 0; code != want && i < 50; i++ { // the token may not be out yet
			code, _ = l.get("/health")
		}
		if code != want {
			t.Errorf("health of %q: %d, want %d", fault, code, want)
		}
		if want == http.StatusServiceUnavailable && !strings.Contains(l.log.String(), "Health check failed. Server couldn't get a response from detokenizer for last 20 seconds.") {
			t.Errorf("log:\n%s", l.log)
		}
	}
}

// A01: healthy from the first moment, while generation waits or is refused.
func TestA01HealthBeforeReady(t *testing.T) {
	t.Parallel()
	for fault, wait := range map[string]bool{"health-early": true, "health-early:503": false} {
		t.Run(fault, func(t *testing.T) {
			l := start(t, "--time-scale", "20", "--startup-scale", "2", "--fault", fault) // about 0.6 s
			if code, _ := l.get("/health"); code != http.StatusOK {
				t.Errorf("health %d", code)
			}
			if strings.Contains(l.log.String(), "Load weight end") {
				t.Error("the port came up as late as always")
			}
			r, err := l.stream(body(1, 8, 4))
			early := !strings.Contains(l.log.String(), "The server is fired up")
			switch {
			case wait && (err != nil || !r.done || early):
				t.Errorf("generation did not wait for the start: %v", err)
			case !wait && (err == nil || !strings.Contains(err.Error(), "503")):
				t.Errorf("generation was not refused: %v", err)
			}
			if l.ready(); !wait {
				if r, err := l.stream(body(1, 8, 4)); err != nil || !r.done {
					t.Errorf("after the start: %v", err)
				}
			}
		})
	}
}

func TestSlowHealth(t *testing.T) {
	t.Parallel()
	l := start(t, "--time-scale", "50", "--fault", "slow-health:10").ready() // 10 s are 0.2 s here
	began := time.Now()
	if code, _ := l.get("/health"); code != http.StatusOK || time.Since(began) < 200*time.Millisecond {
		t.Errorf("health %d after %v", code, time.Since(began))
	}
}

package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestDemoKilledAtTenInstants kills the demo itself at ten random instants of
// its 40 seconds and runs it to the end. It takes some ten minutes, so it runs
// when SWEEP_LONG is set; TestD13KilledNightGoesOn does the same to a short
// night every time.
func TestDemoKilledAtTenInstants(t *testing.T) {
	if os.Getenv("SWEEP_LONG") == "" {
		t.Skip("takes ten minutes: set SWEEP_LONG=1 to run it; TestD13KilledNightGoesOn runs always")
	}
	demo, err := os.ReadFile("../../sweeps/demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same instants every time
	for range 10 {
		after := time.Duration(random.IntN(36_000)) * time.Millisecond
		t.Run(after.String(), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, "# %d\n"+strings.ReplaceAll(string(demo), "%", "%%"))
			args := []string{"run", "--base-port", strconv.Itoa(p.port), p.file}
			c := p.command(args...)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(after)
			_ = c.Process.Kill()
			_ = c.Wait()
			before := p.measurements()
			text := p.mustRun(args...)
			now := p.measurements()
			for path, digest := range before {
				if now[path] != digest {
					t.Errorf("%s was measured before the kill and is gone or changed", path)
				}
			}
			levels := map[string]int{} // run and level
			for path := range now {
				parts := strings.Split(path, string(filepath.Separator))
				levels[parts[len(parts)-5]+parts[len(parts)-2]]++
			}
			if len(now) != 16 || len(levels) != 16 {
				t.Errorf("%d measurements of %d levels, want 16 of 16\n%s", len(now), len(levels), text)
			}
			p.noneLeft("after the second run")
			t.Logf("killed after %s: %d levels were there, all %d in the end", after, len(before), len(now))
		})
	}
}

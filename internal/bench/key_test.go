package bench

import (
	"regexp"
	"strings"
	"testing"
)

func TestKey(t *testing.T) {
	level := Level{Mode: Closed, Concurrency: 64, Prompts: 320, Workload: Workload{Name: "short", InputLen: 256, OutputLen: 128, Seed: 1}}
	key := level.Key()
	if !regexp.MustCompile(`^c64-p320-i256-o128-[0-9a-f]{8}$`).MatchString(key) {
		t.Errorf("key %q", key)
	}
	if level.String() != "c=64" {
		t.Errorf("level is shown as %q", level)
	}
	renamed := level
	renamed.Workload.Name = "other label"
	if renamed.Key() != key {
		t.Error("the workload's label changes the key")
	}
	seen := map[string]bool{key: true}
	for name, change := range map[string]func(*Level){
		"seed":        func(l *Level) { l.Workload.Seed = 2 },
		"ratio":       func(l *Level) { l.Workload.RangeRatio = 0.5 },
		"input":       func(l *Level) { l.Workload.InputLen = 255 },
		"output":      func(l *Level) { l.Workload.OutputLen = 127 },
		"concurrency": func(l *Level) { l.Concurrency = 65 },
		"prompts":     func(l *Level) { l.Prompts = 321 },
		"mode":        func(l *Level) { l.Mode = Burst },
	} {
		other := level
		change(&other)
		if seen[other.Key()] {
			t.Errorf("a change of %s gives a key that is taken: %s", name, other.Key())
		}
		seen[other.Key()] = true
	}
}

func TestKeyOfABurst(t *testing.T) {
	short := Level{Mode: Burst, Concurrency: 256, Workload: Workload{InputLen: 256, OutputLen: 128, Seed: 1}}
	full := short
	full.Prompts = 256
	if short.Key() != full.Key() || !strings.HasPrefix(full.Key(), "b256-p256-i256-o128-") || full.String() != "burst=256" {
		t.Errorf("burst %s: keys %s and %s", full, short.Key(), full.Key())
	}
}

func TestLevelCheck(t *testing.T) {
	good := Level{Mode: Closed, Concurrency: 1, Prompts: 1, Workload: Workload{InputLen: 1, OutputLen: 1}}
	if err := good.check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Level){
		"mode":        func(l *Level) { l.Mode = "poisson" },
		"slot":        func(l *Level) { l.Concurrency = 0 },
		"prompt":      func(l *Level) { l.Prompts = 0 },
		"at least 1":  func(l *Level) { l.Workload.OutputLen = 0 },
		"range ratio": func(l *Level) { l.Workload.RangeRatio = 1.01 },
	} {
		bad := good
		change(&bad)
		if err := bad.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want one about %q", bad, err, want)
		}
	}
}

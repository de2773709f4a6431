package sim

import (
	"math"
	"testing"
	"time"
)

func mustPreset(t *testing.T, name string) Model {
	t.Helper()
	m, err := Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*want {
		t.Errorf("%s: got %.2f, want %.2f within %.0f %%", what, got, want, tolerance*100)
	}
}

// The measured table of the real machine: 128 in, 128 out exact, TP8, graphs off.
func TestGLM5MatchesMeasuredOutputRates(t *testing.T) {
	timing := NewTiming(mustPreset(t, "glm5"), Setup{TP: 8, GraphsOff: true})
	for c, want := range map[int]float64{1: 10.3, 256: 704, 512: 1105, 1024: 1601, 2048: 1639} {
		for mode, prompts := range map[string]int{"burst": c, "closed": 5 * c} {
			got := Offline(timing, Load{Concurrency: c, Prompts: prompts, Input: 128, Output: 128})
			within(t, mode+" output tok/s", got.OutputRate(), want, 0.10)
			t.Logf("%s c=%d: %.1f output tok/s, want %.1f", mode, c, got.OutputRate(), want)
			if got.OutputTokens != prompts*128 {
				t.Errorf("%s c=%d: %d output tokens", mode, c, got.OutputTokens)
			}
		}
	}
	one := Offline(timing, Load{Concurrency: 1, Prompts: 5, Input: 128, Output: 128})
	within(t, "TTFT ms", one.TTFT[0].Seconds()*1e3, 156, 0.01)
	within(t, "TPOT ms", one.TPOT[0].Seconds()*1e3, 97.02, 0.001)
}

// The published decode rates with CUDA graphs, prefill left out.
func TestGLM5MatchesDecodeRatesWithGraphs(t *testing.T) {
	timing := NewTiming(mustPreset(t, "glm5"), Setup{TP: 8, GraphMaxBS: 64})
	for c, want := range map[int]float64{1: 50, 8: 277, 32: 660, 64: 1011} {
		got := Offline(timing, Load{Concurrency: c, Prompts: c, Input: 1, Output: 65})
		within(t, "decode output tok/s", float64(c*got.Steps)/got.Decoding.Seconds(), want, 0.02)
	}
}

func TestPipelineOfHalfTheWidthIsHalfAsFast(t *testing.T) {
	m := mustPreset(t, "glm5")
	for _, c := range []int{1, 64, 512, 2048} {
		load := Load{Concurrency: c, Prompts: c, Input: 128, Output: 128}
		tp8 := Offline(NewTiming(m, Setup{TP: 8}), load).OutputRate()
		pp2 := Offline(NewTiming(m, Setup{TP: 4, PP: 2}), load).OutputRate()
		within(t, "TP4+PP2 of TP8", pp2/tp8, 0.5, 0.01)
	}
}

func TestKVPoolFollowsMemory(t *testing.T) {
	glm5, small := mustPreset(t, "glm5"), mustPreset(t, "small")
	for name, c := range map[string]struct {
		m    Model
		s    Setup
		want func(int) bool
	}{
		"measured pool":         {glm5, Setup{TP: 8, MemFraction: 0.92}, func(n int) bool { return n == 314304 }},
		"smaller fraction":      {glm5, Setup{TP: 8, MemFraction: 0.85}, func(n int) bool { return n < 314304 && n > 200000 }},
		"8-bit cache":           {glm5, Setup{TP: 8, KVDtype: "fp8_e4m3"}, func(n int) bool { return n == 2*314304 }},
		"does not fit":          {glm5, Setup{TP: 4}, func(n int) bool { return n == 0 }},
		"cap":                   {glm5, Setup{TP: 8, MaxTotalTokens: 10000}, func(n int) bool { return n == 9984 }},
		"fraction leaves no kv": {glm5, Setup{TP: 8, MemFraction: 0.5}, func(n int) bool { return n == 0 }},
		"heads are split":       {small, Setup{TP: 2}, func(n int) bool { return n > 2*NewTiming(small, Setup{}).KVTokens() }},
	} {
		if n := NewTiming(c.m, c.s).KVTokens(); !c.want(n) {
			t.Errorf("%s: %d tokens", name, n)
		}
	}
}

func TestGraphsEndAtTheCapturedBatch(t *testing.T) {
	m := mustPreset(t, "glm5")
	for name, c := range map[string]struct {
		s    Setup
		want int
	}{
		"default":      {Setup{TP: 8}, 512},
		"asked":        {Setup{TP: 8, GraphMaxBS: 64}, 64},
		"list":         {Setup{TP: 8, GraphBS: []int{32, 1, 4}}, 32},
		"off":          {Setup{TP: 8, GraphsOff: true}, 0},
		"running caps": {Setup{TP: 8, MaxRunning: 48}, 48},
	} {
		timing := NewTiming(m, c.s)
		if timing.Captured() != c.want {
			t.Errorf("%s: captured %d, want %d", name, timing.Captured(), c.want)
		}
		if got, eager := timing.StepTime(c.want+1), m.Eager.At(c.want+1); got != eager {
			t.Errorf("%s: above the captured batch a step takes %v, want the eager %v", name, got, eager)
		}
	}
}

func TestFlagsChangeSpeed(t *testing.T) {
	m := mustPreset(t, "glm5")
	base := NewTiming(m, Setup{TP: 8}).StepTime(16)
	for name, c := range map[string]struct {
		s    Setup
		want float64
	}{
		"p2p off":                    {Setup{TP: 8, NoP2P: true}, 1.08},
		"triton experts":             {Setup{TP: 8, MoERunner: "triton"}, 1.15},
		"triton attention":           {Setup{TP: 8, Attention: "triton"}, 1.06},
		"no overlap":                 {Setup{TP: 8, NoOverlap: true}, 1.05},
		"no overlap with pipeline":   {Setup{TP: 4, PP: 2, NoOverlap: true}, 2},
		"autotune off is inert":      {Setup{TP: 8, NoAutotune: true}, 1},
		"autotune off, trtllm tuned": {Setup{TP: 8, MoERunner: "flashinfer_trtllm", NoAutotune: true}, 1.03},
		"noise":                      {Setup{TP: 8, Noise: 1.5}, 1.5},
	} {
		got := NewTiming(m, c.s).StepTime(16)
		within(t, name, float64(got)/float64(base), c.want, 0.001)
	}
}

func TestNoise(t *testing.T) {
	seed := uint64(7)
	if NoiseFactor(0, nil) != 1 {
		t.Error("no noise must be exactly 1")
	}
	if a, b := NoiseFactor(3, &seed), NoiseFactor(3, &seed); a != b || a == 1 || math.Abs(a-1) > 0.2 {
		t.Errorf("seeded noise: %v, %v", a, b)
	}
	if NoiseFactor(3, nil) == NoiseFactor(3, nil) {
		t.Error("unseeded noise came out twice the same")
	}
}

func TestStartupDurations(t *testing.T) {
	total := func(s Setup) (d time.Duration) {
		for _, st := range NewTiming(mustPreset(t, "glm5"), s).Startup() {
			d += st.Time
		}
		return d
	}
	if d := total(Setup{TP: 8}); d != 7*time.Minute {
		t.Errorf("glm5 starts in %v, want 7m", d)
	}
	if d := total(Setup{TP: 8, GraphsOff: true}); d != 7*time.Minute-208*time.Second {
		t.Errorf("glm5 without graphs starts in %v", d)
	}
}

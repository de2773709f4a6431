package report

import (
	"slices"
	"testing"

	"sweep/internal/gpu"
	"sweep/internal/sglang"
	"sweep/internal/sweep"
)

func TestNames(t *testing.T) {
	given := labelled("c3", "x", "1", "y", "2")
	given.Name = "card-recipe"
	twin := labelled("c4", "x", "1", "y", "2")
	for _, c := range []struct {
		configs []sweep.Configuration
		names   []string
		common  []string
	}{
		{[]sweep.Configuration{labelled("c1", "x", "1", "y", "2")}, []string{"x=1,y=2"}, nil},
		{[]sweep.Configuration{labelled("c1", "x", "1", "y", "2"), labelled("c2", "x", "1", "y", "3")}, []string{"y=2", "y=3"}, []string{"x=1"}},
		{[]sweep.Configuration{labelled("c1", "x", "1", "y", "1"), given}, []string{"y=1", "card-recipe"}, []string{"x=1"}},
		{[]sweep.Configuration{labelled("c1", "x", "1", "y", "2"), twin}, []string{"x=1,y=2 c1", "x=1,y=2 c4"}, []string{"x=1", "y=2"}},
		{[]sweep.Configuration{{ID: "c1", Name: "alone"}, {ID: "c2"}}, []string{"alone", "c2"}, nil},
	} {
		var subjects []Subject
		for _, config := range c.configs {
			subjects = append(subjects, Subject{Config: config})
		}
		if names, common := nameSubjects(subjects); !slices.Equal(names, c.names) || !slices.Equal(common, c.common) {
			t.Errorf("%v, %v; want %v, %v", names, common, c.names, c.common)
		}
	}
}

func TestSigned(t *testing.T) {
	for v, want := range map[float64]string{0.04: "±0.0 %", 32.14: "+32.1 %", -3: "-3.0 %", 2345: "+2,345 %"} {
		if got := signed(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

func TestHostWithoutGPUs(t *testing.T) {
	f := sweep.Fingerprint{Host: sweep.HostFacts{GPUNote: "nvidia-smi is not installed"}}
	if s := describeHost(f); s != "unknown host · no GPU seen · sglang version unknown" {
		t.Error(s)
	}
	f.Host.Hostname, f.Host.GPUs, f.Server = "h", []gpu.GPU{{Name: "X"}}, &sglang.Resolved{}
	if s := describeHost(f); s != "h · 1× X · sglang of unknown version" {
		t.Error(s)
	}
}

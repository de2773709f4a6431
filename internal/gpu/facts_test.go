package gpu

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// driver is an nvidia-smi that knows some fields only.
type driver struct {
	values  map[string]string // of one card
	refuses []string
	calls   int
}

func (d *driver) Run(_ context.Context, argv ...string) ([]byte, int, error) {
	d.calls++
	fields, ok := strings.CutPrefix(argv[1], "--query-gpu=")
	if !ok {
		return nil, 0, nil
	}
	var row []string
	for _, f := range strings.Split(fields, ",") {
		if slices.Contains(d.refuses, f) {
			return []byte("Field \"" + f + "\" is not a valid field to query.\n\n"), 2, nil
		}
		row = append(row, d.values[f])
	}
	return []byte(strings.Join(row, ", ") + "\n"), 0, nil
}

func card() map[string]string {
	return map[string]string{"index": "0", "uuid": "GPU-a", "name": "X", "memory.used": "1", "memory.total": "97887", "driver_version": "580.95",
		"pci.bus_id": "00000000:01:00.0", "vbios_version": "98.02", "power.limit": "600.00", "clocks.max.sm": "2430", "pcie.link.gen.max": "5",
		"pcie.link.width.current": "8", "pcie.link.width.max": "16", "persistence_mode": "[N/A]"}
}

func TestFactsReadWhatLasts(t *testing.T) {
	s := Facts(t.Context(), &driver{values: card()})
	if len(s.GPUs) != 1 {
		t.Fatalf("%+v", s)
	}
	g := s.GPUs[0]
	got := fmt.Sprint(g.VBIOS, *g.PowerLimit, *g.MaxSMClock, *g.PCIeGenMax, *g.PCIeWidth, *g.PCIeWidthMax, g.Persistence == "")
	if got != fmt.Sprint("98.02", 600.0, 2430, 5, 8, 16, true) {
		t.Errorf("got %q", got)
	}
}

// A driver that does not know a field must not lose the others.
func TestAnUnknownFieldIsLeftOut(t *testing.T) {
	d := &driver{values: card(), refuses: []string{"pcie.link.gen.max", "persistence_mode"}}
	s := Facts(t.Context(), d)
	if len(s.GPUs) != 1 || s.Note != "" {
		t.Fatalf("%+v", s)
	}
	if g := s.GPUs[0]; g.PCIeGenMax != nil || g.VBIOS != "98.02" || s.Driver != "580.95" {
		t.Errorf("%+v", g)
	}
	if d.calls != 4 { // three tries, and the processes
		t.Errorf("%d calls", d.calls)
	}
}

// An answer of other columns than asked for loses the details, not the cards.
func TestFactsFallBackToLook(t *testing.T) {
	if s := Facts(t.Context(), &script{cards: []string{twoCards}, apps: []string{""}}); len(s.GPUs) != 2 || s.Note != "" {
		t.Errorf("%+v", s)
	}
}

// sleeper answers at its n-th call only; before, it hangs.
type sleeper struct {
	answersAt, calls int
	bounds           []time.Duration
}

func (s *sleeper) Run(ctx context.Context, _ ...string) ([]byte, int, error) {
	s.calls++
	at, _ := ctx.Deadline()
	s.bounds = append(s.bounds, time.Until(at))
	if s.calls >= s.answersAt {
		return []byte("GPU 0"), 0, nil
	}
	expired, cancel := context.WithDeadline(ctx, time.Now())
	defer cancel()
	return nil, -1, expired.Err()
}

// E25: discovery takes long now and then. Each of two tries has the half of a
// generous bound, so that one slow answer is not "no GPU".
func TestE25ASlowAnswerHasTwoTriesInTheCallersTime(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := &sleeper{answersAt: 1}
	if _, _, note := ask(ctx, s, "nvidia-smi"); note != "" {
		t.Fatal(note)
	}
	if b := s.bounds[0]; b < 25*time.Second || b > 30*time.Second {
		t.Errorf("the first try has %s of a minute", b)
	}
}

func TestCUDAVersion(t *testing.T) {
	for said, want := range map[string]string{
		"| NVIDIA-SMI 580.95.05   Driver Version: 580.95.05   CUDA Version: 13.0     |": "13.0",
		"NVIDIA-SMI 580 (fake)": "",
	} {
		if got, _ := CUDA(t.Context(), &saying{said}); got != want {
			t.Errorf("%q: %q", said, got)
		}
	}
}

type saying struct{ said string }

func (s *saying) Run(context.Context, ...string) ([]byte, int, error) { return []byte(s.said), 0, nil }

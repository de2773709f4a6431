package bench

import (
	"slices"
	"testing"
)

// The expected totals and lengths were printed by numpy 2.4.6: np.random.seed,
// then np.random.randint(max(int(L*ratio), 1), L+1, size=n) twice.
func TestLengthsAreNumpys(t *testing.T) {
	for _, c := range []struct {
		seed          uint32
		n, in, out    int
		ratio         float64
		sumIn, sumOut int64
		whatIsSpecial string
	}{
		{1, 256, 256, 128, 0, 33093, 16548, "the usual workload"},
		{1, 1024, 256, 128, 0, 132488, 65688, "more than one block of the generator"},
		{1, 1, 256, 128, 0, 38, 108, "single stream"},
		{42, 256, 256, 128, 0, 33716, 17097, "the newer default seed"},
		{42, 1024, 256, 128, 0, 137208, 64889, ""},
		{42, 1, 256, 128, 0, 103, 52, ""},
		{1, 256, 256, 128, 0.5, 48965, 24268, "half"},
		{1, 256, 256, 128, 1, 65536, 32768, "exact lengths draw nothing"},
		{7, 5000, 1000, 777, 0.3, 3229401, 2513943, "no powers of two"},
		{4294967295, 100, 131072, 1, 0.1, 6734428, 100, "largest seed, one-token outputs"},
	} {
		in, out := Workload{InputLen: c.in, OutputLen: c.out, RangeRatio: c.ratio, Seed: c.seed}.Lengths(c.n)
		if len(in) != c.n || len(out) != c.n || total(in) != c.sumIn || total(out) != c.sumOut {
			t.Errorf("seed %d, %d × %d/%d, ratio %v: %d/%d tokens, numpy draws %d/%d (%s)",
				c.seed, c.n, c.in, c.out, c.ratio, total(in), total(out), c.sumIn, c.sumOut, c.whatIsSpecial)
		}
	}
}

func TestFirstLengthsAreNumpys(t *testing.T) {
	for seed, want := range map[uint32][2][]int{
		1: {{38, 236, 141, 73, 256, 138, 204, 134, 80, 193, 145, 130, 205, 72, 238, 253, 135, 26, 179, 21},
			{127, 102, 19, 85, 12, 125, 107, 29, 30, 15, 51, 69, 88, 88, 106, 114, 120, 95, 97, 87}},
		42: {{103, 180, 93, 15, 107, 72, 189, 21, 103, 122, 211, 215, 75, 203, 88, 117, 100, 104, 152, 131},
			{22, 53, 2, 88, 108, 30, 38, 2, 64, 60, 21, 33, 76, 58, 22, 125, 108, 89, 49, 91}},
		20260707: {{10, 154, 42, 24, 63, 233, 67, 90, 45, 138, 183, 193, 105, 119, 2, 29, 240, 158, 127, 42},
			{47, 24, 41, 10, 22, 51, 120, 22, 1, 107, 102, 65, 128, 19, 100, 82, 31, 24, 106, 31}},
	} {
		in, out := Workload{InputLen: 256, OutputLen: 128, Seed: seed}.Lengths(20)
		if !slices.Equal(in, want[0]) || !slices.Equal(out, want[1]) {
			t.Errorf("seed %d:\n got %v %v\nwant %v %v", seed, in, out, want[0], want[1])
		}
	}
}

package bench

import (
	"slices"
	"testing"
)

// A generator that repeats prompts measures the prefix cache.
func TestC07PromptsAreDistinct(t *testing.T) {
	w := Workload{InputLen: 256, OutputLen: 128, Seed: 1}
	const n, vocab = 2000, 32000
	in, _ := w.Lengths(n)
	firsts := map[int]bool{}
	for i := range n {
		ids := w.Prompt("c64-p2000-i256-o128-00000000", i, in[i], vocab)
		if len(ids) != in[i] {
			t.Fatalf("request %d has %d tokens, want %d", i, len(ids), in[i])
		}
		if slices.Min(ids) < 100 || slices.Max(ids) >= vocab {
			t.Fatalf("request %d has ids outside [100, %d): %d to %d", i, vocab, slices.Min(ids), slices.Max(ids))
		}
		firsts[ids[0]] = true
	}
	if len(firsts) != n {
		t.Errorf("%d distinct first tokens among %d requests", len(firsts), n)
	}
}

func TestPromptsAreRepeatable(t *testing.T) {
	w := Workload{Seed: 1}
	first := w.Prompt("k", 5, 64, 150000)
	if again := w.Prompt("k", 5, 64, 150000); !slices.Equal(first, again) {
		t.Error("the same request has two contents")
	}
	// Pinned, because a measurement of another night has to have the same prompts.
	if want := []int{19090, 47910, 148349, 25517}; !slices.Equal(first[:4], want) {
		t.Errorf("prompt begins %v, want %v", first[:4], want)
	}
	if longer := w.Prompt("k", 5, 80, 150000); !slices.Equal(first, longer[:64]) {
		t.Error("a longer prompt does not begin like the shorter one")
	}
	for name, other := range map[string][]int{
		"another level": w.Prompt("l", 5, 64, 150000),
		"another seed":  Workload{Seed: 2}.Prompt("k", 5, 64, 150000),
		"another index": w.Prompt("k", 6, 64, 150000),
	} {
		if same := common(first, other); same != 0 {
			t.Errorf("%s: the prompts share %d tokens at the start", name, same)
		}
	}
}

// No two requests of two levels may share a prefix that a cache could use.
func TestLevelsShareNoPrefix(t *testing.T) {
	w := Workload{Seed: 1}
	const n, vocab = 400, 2000 // a small vocabulary, so that first tokens do meet
	longest := 0
	var a, b [][]int
	for i := range n {
		a = append(a, w.Prompt("c1-p400", i, 32, vocab))
		b = append(b, w.Prompt("c2-p400", i, 32, vocab))
	}
	for i := range n {
		for j := range n {
			longest = max(longest, common(a[i], b[j]))
		}
	}
	if longest > 3 {
		t.Errorf("two levels share a prefix of %d tokens", longest)
	}
}

func TestPromptOfATinyVocabulary(t *testing.T) {
	firsts := map[int]bool{}
	for i := range 12 {
		ids := Workload{}.Prompt("k", i, 8, 10)
		if slices.Min(ids) < 0 || slices.Max(ids) > 9 {
			t.Fatalf("ids %v outside [0, 10)", ids)
		}
		firsts[ids[0]] = true
	}
	if len(firsts) != 10 {
		t.Errorf("%d distinct first tokens, want all 10", len(firsts))
	}
}

func common(a, b []int) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

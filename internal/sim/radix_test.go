package sim

import (
	"math/rand/v2"
	"testing"
)

// The tree finds the longest beginning in whole pages that was ever put in, and
// its counts are those of the distinct pages.
func TestRadixFindsWhatANaiveListFinds(t *testing.T) {
	for _, page := range []int{1, 4} {
		random := rand.New(rand.NewPCG(uint64(page), 1))
		r := newRadix(page)
		var known [][]int32
		pages := map[string]bool{}
		for range 2000 {
			ids := make([]int32, 1+random.IntN(24))
			for i := range ids {
				ids[i] = int32(random.IntN(2))
			}
			want := 0
			for _, k := range known {
				want = max(want, r.common(k, ids))
			}
			if _, got := r.find(ids); got != want {
				t.Fatalf("page %d: found %d of %v, want %d", page, got, ids, want)
			}
			e, _ := r.insert(ids)
			whole := len(ids) / page * page
			if r.depth(e) != whole {
				t.Fatalf("page %d: %v ends at depth %d", page, ids, r.depth(e))
			}
			known = append(known, ids[:whole])
			for n := page; n <= whole; n += page {
				pages[string(bytesOf(ids[:n]))] = true
			}
			if r.total != len(pages)*page {
				t.Fatalf("page %d: %d tokens for %d distinct pages", page, r.total, len(pages))
			}
		}
		r.flush()
		if r.total != 0 || len(r.root.children) != 0 {
			t.Errorf("page %d: %d tokens after the flush", page, r.total)
		}
	}
}

func bytesOf(ids []int32) (b []byte) {
	for _, id := range ids {
		b = append(b, byte(id))
	}
	return b
}

// What is locked stays; of the rest the least recently used goes first.
func TestRadixEvicts(t *testing.T) {
	r := newRadix(1)
	old, _ := r.insert([]int32{1, 2, 3})
	r.insert([]int32{1, 2, 4, 5})
	locked, _ := r.insert([]int32{7, 8})
	r.lock(locked, 1)
	r.find([]int32{1, 2, 3}) // newer now than 4, 5
	r.evict(1)
	if _, n := r.find([]int32{1, 2, 4, 5}); n != 2 {
		t.Errorf("%d of the least recently used are left", n)
	}
	if _, n := r.find([]int32{1, 2, 3}); n != 3 || r.depth(old) != 3 {
		t.Errorf("%d of the recently used are left", n)
	}
	r.flush()
	if r.total != 2 || r.locked != 2 {
		t.Errorf("flush left %d tokens, %d locked", r.total, r.locked)
	}
	r.lock(locked, -1)
	r.flush()
	if r.total != 0 || r.locked != 0 {
		t.Errorf("%d tokens, %d locked at the end", r.total, r.locked)
	}
}

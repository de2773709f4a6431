package sim

import (
	"hash/maphash"
	"slices"
)

// radix is the prefix cache: a tree over token ids whose edges are whole pages,
// as sglang's radix cache. What running requests use is locked; the rest stays
// until room is needed, and then the least recently used ends go first. The
// tokens that it holds lie in the KV pool.
type radix struct {
	page   int
	seed   maphash.Seed
	root   *edge
	total  int // tokens in the tree
	locked int // those that running requests use
	clock  int // counts uses
}

// edge is a run of whole pages below its parent.
type edge struct {
	key      []int32
	parent   *edge
	children map[uint64]*edge // by the hash of their first page
	refs     int              // running requests that use it
	used     int
}

func newRadix(page int) *radix {
	return &radix{page: page, seed: maphash.MakeSeed(), root: &edge{children: map[uint64]*edge{}}}
}

// find returns the longest known beginning of ids, in whole pages, and the edge
// that it ends with.
func (r *radix) find(ids []int32) (*edge, int) {
	at, n := r.root, 0
	r.clock++
	for n+r.page <= len(ids) {
		child := at.children[r.hash(ids[n:])]
		if child == nil {
			break
		}
		same := r.common(child.key, ids[n:])
		if same == 0 {
			break
		}
		if same < len(child.key) {
			child = r.split(child, same)
		}
		child.used = r.clock
		at, n = child, n+same
	}
	return at, n
}

// insert adds ids, cut to whole pages, and returns the edge that they end with
// and how many tokens were new.
func (r *radix) insert(ids []int32) (*edge, int) {
	ids = ids[:len(ids)/r.page*r.page]
	at, n := r.find(ids)
	rest := ids[n:]
	if len(rest) == 0 {
		return at, 0
	}
	key := r.hash(rest)
	if at.children[key] != nil {
		return at, 0 // two pages with one hash: the second is not kept
	}
	leaf := &edge{key: slices.Clone(rest), parent: at, children: map[uint64]*edge{}, used: r.clock}
	at.children[key] = leaf
	r.total += len(rest)
	return leaf, len(rest)
}

// lock keeps everything from the root to an edge from being evicted; by is 1,
// or -1 to undo one lock.
func (r *radix) lock(e *edge, by int) {
	for ; e.parent != nil; e = e.parent {
		if e.refs == 0 {
			r.locked += len(e.key)
		}
		if e.refs += by; e.refs == 0 {
			r.locked -= len(e.key)
		}
	}
}

// depth is how many tokens lead from the root to the end of an edge.
func (r *radix) depth(e *edge) (n int) {
	for ; e.parent != nil; e = e.parent {
		n += len(e.key)
	}
	return n
}

// evict gives up at least n tokens, as far as nobody uses them, and some more so
// that a full pool does not search the tree for every page.
func (r *radix) evict(n int) {
	if n > 0 {
		n = max(n, r.total/64)
	}
	for n > 0 {
		var ends []*edge
		r.root.ends(&ends)
		if len(ends) == 0 {
			return
		}
		slices.SortFunc(ends, func(a, b *edge) int { return a.used - b.used })
		for _, e := range ends {
			if n <= 0 {
				return
			}
			delete(e.parent.children, r.hash(e.key))
			r.total -= len(e.key)
			n -= len(e.key)
		}
	}
}

// ends collects the leaves that nobody uses.
func (e *edge) ends(list *[]*edge) {
	if len(e.children) == 0 && e.parent != nil && e.refs == 0 {
		*list = append(*list, e)
	}
	for _, c := range e.children {
		c.ends(list)
	}
}

// flush forgets everything that nobody uses.
func (r *radix) flush() { r.evict(r.total) }

// split cuts an edge in two and returns the upper part.
func (r *radix) split(e *edge, at int) *edge {
	upper := &edge{key: e.key[:at], parent: e.parent, children: map[uint64]*edge{r.hash(e.key[at:]): e}, refs: e.refs, used: e.used}
	e.parent.children[r.hash(e.key)] = upper
	e.key, e.parent = e.key[at:], upper
	return upper
}

// common is how many leading tokens two lists share, in whole pages.
func (r *radix) common(a, b []int32) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n / r.page * r.page
}

// hash is that of the first page.
func (r *radix) hash(ids []int32) uint64 {
	var h maphash.Hash
	h.SetSeed(r.seed)
	for _, id := range ids[:r.page] {
		_, _ = h.Write([]byte{byte(id), byte(id >> 8), byte(id >> 16), byte(id >> 24)}) // never fails
	}
	return h.Sum64()
}

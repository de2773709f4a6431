package sim

// pool is the KV pool, in tokens: what running requests hold for themselves,
// what the prefix cache holds, and what is free. Requests take whole pages.
type pool struct {
	size    int
	page    int
	private int    // held by requests alone
	cache   *radix // nil: --disable-radix-cache
}

func newPool(t Timing) *pool {
	p := &pool{size: t.KVTokens(), page: max(t.setup.PageSize, 1)}
	if !t.setup.NoPrefixCache {
		p.cache = newRadix(p.page)
	}
	return p
}

// room is what is free or can be made free by evicting cached prefixes.
func (p *pool) room() int { return p.size - p.held() }

// held is what requests use, sglang's "#token".
func (p *pool) held() int {
	if p.cache == nil {
		return p.private
	}
	return p.private + p.cache.locked
}

// more is how many tokens a request must get so that n of its tokens have
// their KV.
func (p *pool) more(q *Seq, n int) int {
	return (n+p.page-1)/p.page*p.page - q.shared - q.private
}

// take gives a request room for n tokens of KV, evicting where needed.
func (p *pool) take(q *Seq, n int) {
	more := p.more(q, n)
	q.private += more
	p.private += more
	if p.cache != nil && more > 0 {
		p.cache.evict(p.private + p.cache.total - p.size)
	}
}

// match finds what is cached of the first n tokens of a request, without the
// last one: that is computed, for its logits.
func (p *pool) match(q *Seq, n int) (*edge, int) {
	if p.cache == nil || q.ids == nil {
		return nil, 0
	}
	return p.cache.find(q.tokens(n - 1))
}

// use locks a cached beginning of n tokens for a request.
func (p *pool) use(q *Seq, e *edge, n int) {
	if n > 0 {
		p.cache.lock(e, 1)
		q.node, q.shared = e, n
	}
}

// share moves the first n tokens of a request to the prefix cache, where others
// find them. What somebody else has put there meanwhile becomes free.
func (p *pool) share(q *Seq, n int) {
	if p.cache == nil || q.ids == nil {
		return
	}
	held := q.shared + q.private
	e, _ := p.cache.insert(q.tokens(n))
	p.cache.lock(e, 1)
	p.release(q)
	q.node, q.shared = e, p.cache.depth(e)
	q.private = held - q.shared
	p.private += q.private
}

// release takes everything from a request; what it shared stays in the cache.
func (p *pool) release(q *Seq) {
	p.private -= q.private
	if q.node != nil {
		p.cache.lock(q.node, -1)
	}
	q.node, q.shared, q.private = nil, 0, 0
}

package sim

import "sync"

// prefixCache remembers whole prompts, a stand-in for sglang's radix tree: a
// prompt seen before is found, all but its last token; a shared beginning is
// not. It holds as many tokens as the KV pool and forgets the oldest first.
type prefixCache struct {
	mu    sync.Mutex
	off   bool // --disable-radix-cache
	limit int  // tokens
	held  int
	known map[uint64]bool
	order []cachedPrompt
}

type cachedPrompt struct {
	hash   uint64
	tokens int
}

func newPrefixCache(limit int, off bool) *prefixCache {
	return &prefixCache{off: off, limit: limit, known: map[uint64]bool{}}
}

// find returns how many tokens of a prompt are cached; the last one is always
// computed, for its logits.
func (p *prefixCache) find(hash uint64, tokens int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known[hash] {
		return tokens - 1
	}
	return 0
}

func (p *prefixCache) add(hash uint64, tokens int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.off || p.known[hash] {
		return
	}
	p.known[hash] = true
	p.order = append(p.order, cachedPrompt{hash, tokens})
	p.held += tokens
	for p.held > p.limit && len(p.order) > 0 {
		delete(p.known, p.order[0].hash)
		p.held -= p.order[0].tokens
		p.order = p.order[1:]
	}
}

func (p *prefixCache) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held, p.order = 0, nil
	clear(p.known)
}

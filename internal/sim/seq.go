package sim

// Seq is one request as the scheduler sees it.
type Seq struct {
	Prompt      int // tokens
	Output      int // tokens that it will generate, at least 1
	MaxNew      int // tokens that it may generate; the scheduler knows no better. 0 means Output
	Cached      int // prompt tokens found in the prefix cache, below Prompt
	Done        int // output tokens so far
	Fresh       int // of these, how many the last step made
	Retractions int // how often it was put back because the KV pool was full

	ids       []int32         // prompt; nil: never cached
	word      func(int) int32 // the k-th output token
	seed      uint64          // decides which drafts are accepted
	prefilled int             // tokens whose KV is there from prefill, the cached ones among them
	admitted  bool            // holds a place and a share of the KV pool
	gone      bool            // aborted
	node      *edge           // end of what it shares in the prefix cache
	shared    int             // tokens there
	private   int             // tokens that it holds alone
	call      *call           // who waits for the tokens; nil offline
}

// Finished says whether the last token is out.
func (q *Seq) Finished() bool { return q.Done >= q.Output }

// left is how many tokens the scheduler must expect, at most clipNew as in
// sglang.
func (q *Seq) left() int {
	most := q.MaxNew
	if most == 0 {
		most = q.Output
	}
	return min(most-q.Done, clipNew)
}

// tokens are the first n tokens: the prompt, then the output.
func (q *Seq) tokens(n int) []int32 {
	if n <= len(q.ids) {
		return q.ids[:n]
	}
	list := append(make([]int32, 0, n), q.ids...)
	for k := range n - len(q.ids) {
		list = append(list, q.word(k))
	}
	return list
}

package sim

import (
	"testing"
	"time"
)

// drive runs sequences through a scheduler to their end and checks the pool at
// every step.
func drive(t *testing.T, s *Scheduler, seqs ...*Seq) (retracted int) {
	t.Helper()
	for _, q := range seqs {
		s.Add(q)
	}
	for steps := 0; ; steps++ {
		st, ok := s.Next()
		if !ok {
			break
		}
		if st.Retracted != nil {
			retracted += len(st.Retracted.Seqs)
			if r := st.Retracted; len(r.Seqs) > 0 && (r.Gained <= 0 || r.To <= r.From) {
				t.Fatalf("retraction %+v", *r)
			}
		}
		total := s.pool.private
		if s.pool.cache != nil {
			total += s.pool.cache.total
		}
		if total > s.pool.size || s.Held() > total || s.pool.private < 0 {
			t.Fatalf("step %d: %d private, %d held, %d in all of %d", steps, s.pool.private, s.Held(), total, s.pool.size)
		}
		s.Commit(st)
		if steps > 1e6 {
			t.Fatal("no end")
		}
	}
	if s.Held() != 0 || s.pool.private != 0 || s.admitted != 0 {
		t.Fatalf("at the end %d tokens are held, %d private, %d admitted", s.Held(), s.pool.private, s.admitted)
	}
	for _, q := range seqs {
		if !q.Finished() || q.Done != q.Output {
			t.Fatalf("%d of %d tokens", q.Done, q.Output)
		}
	}
	return retracted
}

// prompts makes requests; those of one group share all their tokens.
func prompts(n, groups, in, out int) (list []*Seq) {
	for i := range n {
		q := &Seq{Prompt: in, Output: out, ids: make([]int32, in), seed: uint64(i)}
		q.ids[0] = int32(i % groups)
		q.word = func(k int) int32 { return int32(i*100000 + k) }
		list = append(list, q)
	}
	return list
}

// A pool that is small for long outputs makes requests give way.
func TestRetraction(t *testing.T) {
	small := mustPreset(t, "small")
	for name, c := range map[string]struct {
		setup Setup
		out   int
		gives bool
	}{
		"long outputs":         {Setup{MaxTotalTokens: 4000}, 400, true},
		"without prefix cache": {Setup{MaxTotalTokens: 4000, NoPrefixCache: true}, 400, true},
		"pages of 64":          {Setup{MaxTotalTokens: 4096, PageSize: 64}, 400, true},
		"speculative":          {Setup{MaxTotalTokens: 4000, MaxRunning: 64, Spec: Spec{Algorithm: "EAGLE"}}, 400, true},
		"chunked":              {Setup{MaxTotalTokens: 4000, ChunkedPrefill: 64}, 400, true},
		"short outputs":        {Setup{MaxTotalTokens: 4200}, 4, false},
		"large pool":           {Setup{MaxTotalTokens: 40000}, 400, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewScheduler(NewTiming(small, c.setup))
			seqs := prompts(40, 40, 100, c.out)
			got := drive(t, s, seqs...)
			if (got > 0) != c.gives {
				t.Errorf("%d retractions", got)
			}
			counted := 0
			for _, q := range seqs {
				counted += q.Retractions
			}
			if counted != got {
				t.Errorf("requests count %d retractions, steps %d", counted, got)
			}
		})
	}
}

// schedule_conservativeness keeps more of the pool free, so less has to give way.
func TestConservativenessRetractsLess(t *testing.T) {
	var got [2]int
	for i, c := range []float64{0.3, 1} {
		got[i] = drive(t, NewScheduler(NewTiming(mustPreset(t, "small"), Setup{MaxTotalTokens: 4000, Conservativeness: c})), prompts(40, 40, 100, 400)...)
	}
	if got[0] <= got[1] {
		t.Errorf("retractions %v", got)
	}
}

// A request as large as the pool allows runs alone to its end.
func TestLargestRequestFits(t *testing.T) {
	for _, page := range []int{1, 64} {
		s := NewScheduler(NewTiming(mustPreset(t, "small"), Setup{MaxTotalTokens: 640, PageSize: page}))
		drive(t, s, append(prompts(1, 1, 300, 339), prompts(3, 3, 50, 500)...)...)
	}
}

// A prompt seen before costs no prefill, in whole pages and without its last
// token; a flush forgets it.
func TestPrefixCacheCutsPrefill(t *testing.T) {
	for page, want := range map[int]int{1: 127, 64: 64} {
		s := NewScheduler(NewTiming(mustPreset(t, "small"), Setup{PageSize: page}))
		first, second := prompts(1, 1, 128, 4)[0], prompts(1, 1, 128, 4)[0]
		drive(t, s, first)
		s.Add(second)
		st, _ := s.Next()
		if second.Cached != want || st.Tokens != 128-want || st.Cached != want || st.Duration != s.t.PrefillTime(128-want) {
			t.Errorf("page %d: cached %d, new %d", page, second.Cached, st.Tokens)
		}
		s.Abort(second)
		s.pool.cache.flush()
		third := prompts(1, 1, 128, 4)[0]
		if drive(t, s, third); third.Cached != 0 {
			t.Errorf("page %d: %d cached after a flush", page, third.Cached)
		}
	}
}

// A conversation finds its own answer in the cache.
func TestPrefixCacheKeepsOutputs(t *testing.T) {
	s := NewScheduler(NewTiming(mustPreset(t, "small"), Setup{}))
	first := prompts(1, 1, 10, 20)[0]
	drive(t, s, first)
	next := prompts(1, 1, 40, 2)[0]
	next.ids = append(first.tokens(30), make([]int32, 10)...)
	if drive(t, s, next); next.Cached != 29 { // all but the last, whose KV was never computed
		t.Errorf("%d cached", next.Cached)
	}
}

func TestAbortFreesThePool(t *testing.T) {
	s := NewScheduler(NewTiming(mustPreset(t, "small"), Setup{ChunkedPrefill: 64}))
	seqs := prompts(3, 3, 100, 50)
	for _, q := range seqs {
		s.Add(q)
	}
	for range 2 { // the second is cut in half now
		st, _ := s.Next()
		s.Commit(st)
	}
	for _, q := range seqs {
		s.Abort(q)
		s.Abort(q)
	}
	if _, more := s.Next(); more || s.Held() != 0 || s.admitted != 0 {
		t.Errorf("%d held, %d admitted", s.Held(), s.admitted)
	}
}

// 2,048 streams of the measured workload do not fit the pool at once.
func TestPoolOf2048StreamsRetracts(t *testing.T) {
	s := NewScheduler(NewTiming(mustPreset(t, "glm5"), Setup{TP: 8, GraphsOff: true}))
	began := time.Now()
	got := drive(t, s, prompts(2048, 2048, 128, 128)...)
	if got == 0 || got > 2048 {
		t.Errorf("%d retractions", got)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the scheduler itself took %v", took)
	}
}

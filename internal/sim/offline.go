package sim

import "time"

// Load is a synthetic load of equal requests.
type Load struct {
	Concurrency int // slots, each sending its next request when the last one ended
	Prompts     int // requests in all; a burst has as many slots as prompts
	Input       int // prompt tokens of each
	Output      int // output tokens of each
}

// Outcome is what a load would meet, without network or client.
type Outcome struct {
	Window       time.Duration // first send to last token
	OutputTokens int
	TTFT         []time.Duration // of each request, in the order they ended
	TPOT         []time.Duration // of each with two output tokens or more
	Steps        int             // decode steps
	Decoding     time.Duration   // time spent in decode steps
}

// OutputRate is output tok/s over the window.
func (o Outcome) OutputRate() float64 { return float64(o.OutputTokens) / o.Window.Seconds() }

// Offline plays a load through the scheduler of the live server in no time at
// all: a pure discrete-event simulation.
func Offline(t Timing, l Load) Outcome {
	type times struct{ sent, first time.Duration }
	s, out := NewScheduler(t), Outcome{}
	seen := make(map[*Seq]*times, l.Concurrency)
	sent, now := 0, time.Duration(0)
	send := func() {
		if sent < l.Prompts {
			q := &Seq{Prompt: l.Input, Output: l.Output}
			seen[q] = &times{sent: now}
			s.Add(q)
			sent++
		}
	}
	for range l.Concurrency {
		send()
	}
	for {
		st, ok := s.Next()
		if !ok {
			out.Window = now
			return out
		}
		now += st.Duration
		if !st.Prefill {
			out.Steps++
			out.Decoding += st.Duration
		}
		s.Commit(st)
		for _, q := range st.Seqs {
			at := seen[q]
			if at.first == 0 {
				at.first = now
			}
			out.OutputTokens += q.Fresh
			if !q.Finished() {
				continue
			}
			out.TTFT = append(out.TTFT, at.first-at.sent)
			if q.Output > 1 {
				out.TPOT = append(out.TPOT, (now-at.first)/time.Duration(q.Output-1))
			}
			delete(seen, q)
			send()
		}
	}
}

package bench

import (
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// An error inside a 200 stream is a failed request, at whatever token it comes,
// also with [DONE] after it.
func TestB10ErrorInStream(t *testing.T) {
	f := newFake(t, func(c *call) {
		refusal := chunk(`data: {"error": {"message": "KV cache pool is full", "type": "x"}}` + "\n\n")
		done := chunk("data: [DONE]\n\n") + "0\r\n\r\n"
		switch {
		case c.flushed > 0 && c.IDs[0]%3 == 0: // at once
			c.write(streamHead + refusal + done)
		case c.flushed > 0 && c.IDs[0]%3 == 1: // after five tokens
			c.write(streamHead + chunk(c.token(5, "")) + refusal + done)
		default:
			well(c)
		}
	})
	m, requests := run(t, f.job(3, 30, 8))
	if m.Completed != 10 || m.InStream != 20 || m.Errors["error in the stream: KV cache pool is full"] != 20 {
		t.Errorf("completed %d, in stream %d, errors %v", m.Completed, m.InStream, m.Errors)
	}
	if m.OutputTokens != 80 {
		t.Errorf("%d output tokens: failed requests are credited", m.OutputTokens)
	}
	for _, r := range requests {
		if r.Error != "" && (!r.InStream || r.E2E != nil || r.TPOT != nil) {
			t.Errorf("failed request %+v", r)
		}
	}
}

// An abort by the scheduler comes as a finish reason.
func TestB10AbortIsAFailure(t *testing.T) {
	f := newFake(t, func(c *call) {
		if c.flushed == 0 || c.n%2 == 0 {
			well(c)
			return
		}
		c.write(streamHead + chunk(c.token(3, "")) + chunk(`data: {"text": "xxx", "meta_info": {"finish_reason": {"type": "abort", "message": "Aborted by the watchdog"}, "completion_tokens": 3}}`+"\n\n") +
			chunk("data: [DONE]\n\n") + "0\r\n\r\n")
	})
	m, _ := run(t, f.job(1, 10, 8))
	if m.Completed != 5 || m.InStream != 5 || m.Errors["aborted by the server: Aborted by the watchdog"] != 5 {
		t.Errorf("completed %d, errors %v", m.Completed, m.Errors)
	}
}

// A response without a proper end or without counts is a failure, and nothing
// is credited because it was asked for.
func TestB11NothingIsCreditedUnseen(t *testing.T) {
	ends := "0\r\n\r\n"
	for want, answer := range map[string]func(c *call){
		"HTTP 200 with an empty body": func(c *call) { c.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") },
		"the stream ended without a finish reason or [DONE]": func(c *call) {
			c.write(streamHead + chunk(c.token(1, "")) + chunk(c.token(2, "")) + chunk(c.token(3, "")) + ends)
		},
		"the connection closed before the response ended": func(c *call) {
			c.write(streamHead + chunk(c.token(1, "")) + chunk(c.token(2, ""))[:50])
			c.hangUp = true
		},
		"the server sent no token count": func(c *call) {
			c.write(streamHead + chunk("data: {\"text\": \"hello\"}\n\ndata: [DONE]\n\n") + ends)
		},
		"no output token": func(c *call) {
			c.write(streamHead + chunk(c.token(0, "stop")) + chunk("data: [DONE]\n\n") + ends)
		},
		`HTTP 200 without an event stream: {"detail": "what?"}`: func(c *call) {
			c.write("HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\n{\"detail\": \"what?\"}")
		},
		"read the response: connection reset by peer": func(c *call) {
			c.write(streamHead + chunk(c.token(1, "")))
			time.Sleep(5 * time.Millisecond) // a reset may throw away what was not read
			c.conn.(*net.TCPConn).SetLinger(0)
			c.hangUp = true
		},
		`malformed HTTP response: status line "SSH-2.0-x"`: func(c *call) { c.write("SSH-2.0-x\r\n"); c.hangUp = true },
	} {
		f := newFake(t, func(c *call) {
			if c.flushed == 0 || c.n%2 == 0 {
				well(c)
				return
			}
			answer(c)
		})
		job := f.job(1, 6, 4)
		m, _ := run(t, job)
		if m.Completed != 3 || m.Failed != 3 || m.Errors[want] != 3 || m.OutputTokens != 12 {
			t.Errorf("%s: completed %d with %d tokens, errors %v", want, m.Completed, m.OutputTokens, m.Errors)
		}
		if m.Ended != Complete || m.InStream != 0 {
			t.Errorf("%s: ended %q, %d in stream", want, m.Ended, m.InStream)
		}
	}
}

// A finish reason alone, or [DONE] alone, is a proper end.
func TestB11EitherEndSuffices(t *testing.T) {
	f := newFake(t, func(c *call) {
		n := c.Sampling.Max
		if c.n%2 == 0 {
			c.write(streamHead + chunk(c.token(n, "length")) + "0\r\n\r\n")
		} else {
			c.write(streamHead + chunk(c.token(n, "")) + chunk("data: [DONE]\n") + "0\r\n\r\n")
		}
	})
	if m, _ := run(t, f.job(1, 6, 4)); m.Completed != 6 || m.OutputTokens != 24 {
		t.Errorf("completed %d, errors %v", m.Completed, m.Errors)
	}
}

// Refusals are counted, never retried, and goodput is of all issued.
func TestB12RefusalsAreCounted(t *testing.T) {
	f := newFake(t, func(c *call) {
		if c.flushed > 0 && c.IDs[0]%2 == 0 {
			c.write("HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n{\"error\": \"busy\"}")
			return
		}
		c.stream(c.Sampling.Max, 1, time.Millisecond)
	})
	job := f.job(4, 40, 4)
	job.SLO.TTFT = 10 * time.Second
	m, requests := run(t, job)
	if m.Completed != 20 || m.Failed != 20 || m.InStream != 0 || m.Errors[`HTTP 503: {"error": "busy"}`] != 20 || len(f.measured()) != 40 {
		t.Errorf("completed %d, errors %v, the server saw %d", m.Completed, m.Errors, len(f.measured()))
	}
	if m.GoodputShare == nil || *m.GoodputShare != 0.5 || m.E2E.N != 20 {
		t.Errorf("goodput share %v, n of e2e %d", m.GoodputShare, m.E2E.N)
	}
	if requests[0].OutputTok != nil && requests[0].Error != "" {
		t.Errorf("a refused request has output tokens: %+v", requests[0])
	}
}

// Several tokens a chunk: the gap between chunks and the time per token are two
// figures with two names.
func TestC03SeveralTokensAChunk(t *testing.T) {
	f := newFake(t, func(c *call) { c.stream(c.Sampling.Max, 4, 12*time.Millisecond) })
	m, requests := run(t, f.job(1, 3, 40))
	if m.ChunkGap.N != 3*9 || m.ITL.N != 3*36 || requests[0].Chunks != 10 {
		t.Errorf("n of chunk gaps %d, of ITL %d, %d chunks", m.ChunkGap.N, m.ITL.N, requests[0].Chunks)
	}
	if ratio := *m.ChunkGap.Mean / *m.ITL.Mean; ratio < 3.99 || ratio > 4.01 {
		t.Errorf("chunk gap %v ms, ITL %v ms", *m.ChunkGap.Mean, *m.ITL.Mean)
	}
	if *m.TPOT.P50 > *m.ITL.Mean*1.3 || *m.TPOT.P50 < *m.ITL.Mean*0.7 {
		t.Errorf("TPOT %v ms and ITL %v ms contradict each other", *m.TPOT.P50, *m.ITL.Mean)
	}
}

// A frame beyond 64 KB is a frame like any other.
func TestC17LongFrameOnASocket(t *testing.T) {
	f := newFake(t, func(c *call) {
		long := strings.Replace(c.token(4, "length"), "xxxx", strings.Repeat("y", 70000), 1)
		c.write(streamHead + chunk(long[:9000]))
		c.write(chunk(long[9000:]) + chunk("data: [DONE]\n\n") + "0\r\n\r\n")
	})
	if m, _ := run(t, f.job(2, 6, 4)); m.Completed != 6 || m.OutputTokens != 24 {
		t.Errorf("completed %d with %d tokens, errors %v", m.Completed, m.OutputTokens, m.Errors)
	}
}

// Only what came counts: an early stop is seen although the server echoes that
// it ignores eos.
func TestC24ShortOutputsAreSeen(t *testing.T) {
	f := newFake(t, func(c *call) {
		if c.flushed > 0 && c.IDs[0]%4 == 0 {
			c.write(streamHead + chunk(c.token(43, "stop")) + chunk("data: [DONE]\n\n") + "0\r\n\r\n")
			return
		}
		well(c)
	})
	m, requests := run(t, f.job(2, 20, 64))
	if m.Completed != 20 || m.Short != 5 || m.OutputTokens != 15*64+5*43 || *m.OutputLen.Min != 43 || *m.OutputLen.Max != 64 {
		t.Errorf("short %d of %d, %d tokens, lengths %v to %v", m.Short, m.Completed, m.OutputTokens, *m.OutputLen.Min, *m.OutputLen.Max)
	}
	stops := 0
	for _, r := range requests {
		if r.Finish == "stop" && *r.OutputTok == 43 && r.AskedOut == 64 {
			stops++
		}
	}
	if stops != 5 {
		t.Errorf("%d lines tell of the early stop", stops)
	}
}

// A server that counts other prompt lengths than were sent is noticed.
func TestC25PromptLengthsAreCompared(t *testing.T) {
	f := newFake(t, func(c *call) {
		c.IDs = append(c.IDs, 1, 2) // two special tokens
		well(c)
	})
	if m, _ := run(t, f.job(1, 5, 3)); *m.Mismatch != 5 || *m.InputTokens != 60 || m.AskedInputTokens != 50 {
		t.Errorf("%d mismatches, %d input tokens of %d asked", *m.Mismatch, *m.InputTokens, m.AskedInputTokens)
	}
}

// Every byte in a packet of its own, and everything in one, read the same.
func TestFramingOnASocket(t *testing.T) {
	whole := func(c *call, end string) string {
		return c.token(1, "") + ": ping\r\n\r\n" + strings.ReplaceAll(c.token(2, ""), "\n", "\r\n") + c.token(3, "length") + "data:[DONE]" + end
	}
	for name, answer := range map[string]func(c *call){
		"byte by byte": func(c *call) {
			for _, b := range []byte(streamHead + chunk(whole(c, "\n\n")) + "0\r\n\r\n") {
				c.conn.Write([]byte{b})
			}
		},
		"a chunk a byte": func(c *call) {
			var wire strings.Builder
			for _, b := range []byte(whole(c, "\n\n")) {
				wire.WriteString(chunk(string(b)))
			}
			c.write(streamHead + wire.String() + "0\r\n\r\n")
		},
		"one piece": func(c *call) { c.write(streamHead + chunk(whole(c, "\n\n")) + "0\r\n\r\n") },
		"until close": func(c *call) {
			c.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + whole(c, ""))
			c.hangUp = true
		},
		"HTTP/1.0": func(c *call) { c.write("HTTP/1.0 200 OK\r\n\r\n" + whole(c, "\n")); c.hangUp = true },
	} {
		f := newFake(t, answer)
		m, requests := run(t, f.job(2, 6, 3))
		if m.Completed != 6 || m.OutputTokens != 18 || m.Ended != Complete {
			t.Errorf("%s: completed %d with %d tokens, errors %v", name, m.Completed, m.OutputTokens, m.Errors)
		}
		if requests[0].Chunks != 3 || requests[0].Finish != "length" {
			t.Errorf("%s: %+v", name, requests[0])
		}
	}
}

// A server may end a connection between two requests, with or without a word.
// That fails nothing, and it is counted.
func TestKeepAliveClose(t *testing.T) {
	for name, head := range map[string]string{
		"announced": strings.Replace(streamHead, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1),
		"silent":    streamHead,
	} {
		f := newFake(t, func(c *call) {
			c.write(head + chunk(c.token(c.Sampling.Max, "length")) + "0\r\n\r\n")
			c.hangUp = true
		})
		m, requests := run(t, f.job(2, 20, 3))
		if m.Completed != 20 || m.Errors != nil || m.Client.Redials < 18 || len(f.measured()) != 20 {
			t.Errorf("%s: completed %d, %d redials, errors %v, the server saw %d", name, m.Completed, m.Client.Redials, m.Errors, len(f.measured()))
		}
		if requests[19].E2E == nil {
			t.Errorf("%s: %+v", name, requests[19])
		}
	}
}

// A request that reached the server and was dropped there is a failure: only a
// connection that broke at once, after an earlier answer and without a byte, is
// tried again, and once.
func TestDroppedRequestsAreNotHidden(t *testing.T) {
	var dropped atomic.Int64
	f := newFake(t, func(c *call) {
		if c.flushed > 0 && c.n%4 == 3 {
			dropped.Add(1)
			time.Sleep(lateClose + 100*time.Millisecond)
			c.hangUp = true
			return
		}
		well(c)
	})
	m, _ := run(t, f.job(1, 4, 3))
	if m.Failed != int(dropped.Load()) || m.Errors["the connection closed before the response ended"] != m.Failed || m.Failed < 1 {
		t.Errorf("dropped %d, failed %d, errors %v", dropped.Load(), m.Failed, m.Errors)
	}

	always := newFake(t, func(c *call) {
		if c.flushed > 0 && c.n > 1 {
			c.hangUp = true
			return
		}
		well(c)
	})
	if m, _ := run(t, always.job(1, 5, 3)); m.Completed != 1 || m.Failed != 4 {
		t.Errorf("a server that drops everything: completed %d, failed %d, errors %v", m.Completed, m.Failed, m.Errors)
	}
}

// A large prompt to a server that answers before it has read it all.
func TestEarlyAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Read(make([]byte, 100))
			c.Write([]byte("HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbig\n"))
			c.Close()
		}
	}()
	job := (&fake{listener: l}).job(1, 2, 3)
	job.Level.Workload.InputLen = 2_000_000
	_, err = Run(t.Context(), job, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "warm-up: all 1 requests failed") {
		t.Errorf("error %v", err)
	}
}

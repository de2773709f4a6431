package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake is a server on a real socket that speaks raw HTTP, so that a test
// decides about every byte and every write.
type fake struct {
	t        *testing.T
	listener net.Listener
	answer   func(c *call) // writes the answer to one /generate
	flush    func(n int) string

	mu       sync.Mutex
	calls    []*call
	flushes  int
	accepted int
	open     int // calls being answered
	peak     int // of open
	conns    map[net.Conn]bool
	wg       sync.WaitGroup
}

// call is one /generate as the server saw it.
type call struct {
	conn     net.Conn
	n        int // from 0, in order of arrival
	at       time.Time
	flushed  int // flushes before it
	inFlight int // this one included
	hangUp   bool

	IDs      []int `json:"input_ids"`
	Stream   bool  `json:"stream"`
	Sampling struct {
		Max       int  `json:"max_new_tokens"`
		IgnoreEOS bool `json:"ignore_eos"`
	} `json:"sampling_params"`
}

func newFake(t *testing.T, answer func(c *call)) *fake {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, listener: l, answer: answer, conns: map[net.Conn]bool{}}
	f.wg.Go(f.accept)
	t.Cleanup(f.die)
	return f
}

func (f *fake) url() string { return "http://" + f.listener.Addr().String() }

// die closes the listener and every connection at once, as a killed server does.
func (f *fake) die() {
	f.kill()
	f.wg.Wait()
}

func (f *fake) kill() {
	f.listener.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
}

func (f *fake) accept() {
	for {
		conn, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.mu.Lock()
		f.accepted++
		f.conns[conn] = true
		f.mu.Unlock()
		f.wg.Go(func() { f.serve(conn) })
	}
}

func (f *fake) serve(conn net.Conn) {
	defer func() {
		conn.Close()
		f.mu.Lock()
		delete(f.conns, conn)
		f.mu.Unlock()
	}()
	in := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		if req.URL.Path == "/flush_cache" {
			f.mu.Lock()
			f.flushes++
			status := "200 OK"
			if f.flush != nil {
				status = f.flush(f.flushes)
			}
			f.mu.Unlock()
			fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Length: 5\r\nConnection: close\r\n\r\nfake\n", status)
			return
		}
		c := &call{conn: conn, at: time.Now()}
		if err := json.Unmarshal(body, c); err != nil || req.URL.Path != "/generate" {
			f.t.Errorf("the client sent %s %s %q: %v", req.Method, req.URL, body, err)
			return
		}
		f.mu.Lock()
		f.open++
		f.peak = max(f.peak, f.open)
		c.n, c.flushed, c.inFlight = len(f.calls), f.flushes, f.open
		f.calls = append(f.calls, c)
		f.mu.Unlock()
		f.answer(c)
		f.mu.Lock()
		f.open--
		f.mu.Unlock()
		if c.hangUp {
			return
		}
	}
}

// seen are all calls, and what was counted beside them. A test must not look at
// the fields themselves: the client's sockets are no synchronisation that the race
// detector knows.
func (f *fake) seen() (calls []*call, accepted, peak, flushes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls), f.accepted, f.peak, f.flushes
}

// measured are the calls after the flush, that is inside the window.
func (f *fake) measured() (calls []*call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		if c.flushed > 0 {
			calls = append(calls, c)
		}
	}
	return calls
}

// write sends text and tells whether the client still listened.
func (c *call) write(text string) bool {
	_, err := io.WriteString(c.conn, text)
	return err == nil
}

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// token is one event as sglang streams it, with the whole text so far.
func (c *call) token(n int, finish string) string {
	reason := "null"
	if finish != "" {
		reason = fmt.Sprintf(`{"type": %q, "length": %d}`, finish, n)
	}
	return fmt.Sprintf("data: {\"text\": %q, \"output_ids\": [%d], \"meta_info\": {\"id\": \"r%d\", \"finish_reason\": %s, \"prompt_tokens\": %d, \"completion_tokens\": %d, \"cached_tokens\": 0}}\n\n",
		strings.Repeat("x", n), n, c.n, reason, len(c.IDs), n)
}

// stream answers well: per tokens a chunk until total, gap apart.
func (c *call) stream(total, per int, gap time.Duration) {
	c.write(streamHead)
	for n := min(per, total); ; n = min(n+per, total) {
		finish := ""
		if n == total {
			finish = "length"
		}
		if !c.write(chunk(c.token(n, finish))) || n == total {
			break
		}
		time.Sleep(gap)
	}
	c.write(chunk("data: [DONE]\n\n") + "0\r\n\r\n")
}

// well answers every request fully and at once.
func well(c *call) { c.stream(c.Sampling.Max, 1, 0) }

// socketsUnderTest names the environment variable with the client that the tests
// of this package are run over.
const socketsUnderTest = "SWEEP_TEST_SOCKETS"

// job is a small closed loop against the fake: exact lengths of 10 in, out tokens out.
func (f *fake) job(slots, prompts, out int) Job {
	return Job{Schema: Schema, URL: f.url(), Vocab: 32000, Stall: 20 * time.Second, Sockets: Sockets(os.Getenv(socketsUnderTest)), Level: Level{Mode: Closed, Concurrency: slots, Prompts: prompts,
		Workload: Workload{InputLen: 10, OutputLen: out, RangeRatio: 1, Seed: 1}}}
}

// run measures and wants a measurement.
func run(t *testing.T, job Job) (Measurement, []Request) {
	t.Helper()
	var requests []Request
	m, err := Run(t.Context(), job, func(r Request) error { requests = append(requests, r); return nil }, nil)
	if err != nil {
		t.Fatalf("no measurement: %v", err)
	}
	if len(requests) != m.Issued || m.Completed+m.Failed != m.Issued {
		t.Errorf("%d lines for %d issued, %d completed and %d failed", len(requests), m.Issued, m.Completed, m.Failed)
	}
	return m, requests
}

// nobody is an address at which nobody listens.
type nobody struct{ net.Listener }

func (nobody) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

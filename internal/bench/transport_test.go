package bench

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// underTest is the client that the tests of this process are run over.
func underTest() Sockets {
	if want := Sockets(os.Getenv(socketsUnderTest)); want != "" {
		return want
	}
	if runtime.GOOS == "linux" {
		return Epoll
	}
	return Portable
}

// Every test of this package over the client of other systems.
func TestAllOverPortable(t *testing.T) {
	if underTest() == Portable {
		t.Skip("that is what runs")
	}
	args := []string{"-test.run=^Test", "-test.count=1"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), socketsUnderTest+"="+string(Portable))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The measurement names its client. On Linux every chunk has the kernel's time,
// and its lag is small but there; elsewhere nothing is made up.
func TestClientTellsHowItRead(t *testing.T) {
	f := newFake(t, func(c *call) { c.stream(c.Sampling.Max, 1, time.Millisecond) })
	m, _ := run(t, f.job(4, 8, 10))
	c := m.Client
	if c.Sockets != underTest() || c.Stamped == nil {
		t.Fatalf("client %+v", c)
	}
	if c.Sockets == Portable {
		if *c.Stamped != 0 || c.EventLag.N != 0 || c.EventLag.P50 != nil {
			t.Errorf("stamped %v, lag %+v", *c.Stamped, c.EventLag)
		}
		return
	}
	if *c.Stamped < 0.9 || c.EventLag.N < 72 || *c.EventLag.P50 <= 0 || *c.EventLag.P50 > 1000 {
		t.Errorf("stamped %v, lag %+v", *c.Stamped, c.EventLag)
	}
}

// Two thousand connections are opened before the window and all are used at once.
func TestManyConnections(t *testing.T) {
	const n = 2048
	var all sync.WaitGroup
	all.Add(n)
	f := newFake(t, func(c *call) {
		if c.flushed > 0 {
			all.Done()
			all.Wait()
		}
		well(c)
	})
	job := f.job(n, n, 3)
	job.Level.Mode, job.Warmup, job.Stall = Burst, 16, time.Minute
	m, _ := run(t, job)
	_, accepted, _, _ := f.seen()
	if m.Completed != n || m.ConcurrencyPeak != n || m.Client.Redials != 0 || accepted != n+16+1 {
		t.Errorf("completed %d, peak %d, %d redials, %d connections, errors %v", m.Completed, m.ConcurrencyPeak, m.Client.Redials, accepted, m.Errors)
	}
}

// However the server's bytes fall into packets and reads, the requests are the same.
func TestAnySplitReadsTheSame(t *testing.T) {
	whole := func(c *call) string {
		return streamHead + chunk(c.token(1, "")+": ping\n\n"+c.token(2, "")) + chunk(strings.ReplaceAll(c.token(5, ""), "\n", "\r\n")) +
			chunk(c.token(6, "length")+"data: [DO") + chunk("NE]\n\n") + "0\r\n\r\n"
	}
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(1, 2))
	f := newFake(t, func(c *call) {
		for text := whole(c); text != ""; {
			mu.Lock()
			n := min(1+random.IntN(1+random.IntN(len(text))), len(text))
			mu.Unlock()
			c.write(text[:n])
			text = text[n:]
		}
	})
	m, requests := run(t, f.job(8, 200, 6))
	if m.Completed != 200 || m.OutputTokens != 1200 {
		t.Fatalf("completed %d with %d tokens, errors %v", m.Completed, m.OutputTokens, m.Errors)
	}
	for i, r := range requests {
		want := Request{Index: i, AskedIn: 10, AskedOut: 6, PromptTok: r.PromptTok, OutputTok: r.OutputTok, CachedTok: r.CachedTok, Chunks: 4, Finish: "length"}
		r.Sent, r.TTFT, r.TTFTText, r.E2E, r.TPOT = 0, nil, nil, nil, nil
		if *r.PromptTok != 10 || *r.OutputTok != 6 || *r.CachedTok != 0 || !reflect.DeepEqual(r, want) {
			t.Fatalf("request %d: %+v, want %+v", i, r, want)
		}
	}
}

// A redirect is not followed: the failure names where it leads.
func TestRedirectFailsClearly(t *testing.T) {
	f := newFake(t, func(c *call) {
		c.write("HTTP/1.1 307 Temporary Redirect\r\nLocation: https://other.example/generate\r\nContent-Length: 0\r\n\r\n")
	})
	_, err := Run(t.Context(), f.job(1, 2, 3), nil, nil)
	if err == nil || !strings.Contains(err.Error(), "HTTP 307: redirected to https://other.example/generate; redirects are not followed") {
		t.Errorf("error %v", err)
	}
}

// A name goes to an address of it that answers.
func TestServerByName(t *testing.T) {
	f := newFake(t, well)
	job := f.job(2, 4, 3)
	job.URL = fmt.Sprintf("http://localhost:%d", f.listener.Addr().(*net.TCPAddr).Port)
	if m, _ := run(t, job); m.Completed != 4 {
		t.Errorf("completed %d, errors %v", m.Completed, m.Errors)
	}
}

// A large prompt does not fit into the socket at once, to a server that is slow
// to read it.
func TestLargeRequest(t *testing.T) {
	f := newFake(t, well)
	job := f.job(2, 4, 3)
	job.Level.Workload.InputLen = 500_000 // some 3 MB
	if m, _ := run(t, job); m.Completed != 4 || *m.Mismatch != 0 {
		t.Errorf("completed %d, %d mismatches, errors %v", m.Completed, *m.Mismatch, m.Errors)
	}
}

// TLS is spoken, by the portable client, and an unknown certificate is named.
func TestTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for n := 1; n <= 3; n++ {
			finish := map[bool]string{true: `{"type":"length"}`, false: "null"}[n == 3]
			fmt.Fprintf(w, "data: {\"text\":\"x\",\"meta_info\":{\"finish_reason\":%s,\"prompt_tokens\":10,\"completion_tokens\":%d,\"cached_tokens\":0}}\n\n", finish, n)
			w.(http.Flusher).Flush()
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer server.Close()
	job := (&fake{listener: nobody{}}).job(2, 8, 3)
	job.URL, job.Sockets = server.URL, ""
	if _, err := Run(t.Context(), job, nil, nil); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("unknown certificate: error %v", err)
	}

	s, err := newSession(job)
	if err != nil {
		t.Fatal(err)
	}
	s.endpoint.roots = x509.NewCertPool()
	s.endpoint.roots.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	in, out := job.Level.Workload.Lengths(8)
	o, err := s.phase(t.Context(), phase{key: "k", in: in, out: out, slots: 2, progress: func(int) {}})
	if err != nil {
		t.Fatal(err)
	}
	m := aggregate(job.Level, SLO{}, o.traces)
	if m.Completed != 8 || o.redials != 0 || o.sockets != Portable {
		t.Errorf("completed %d, %d redials, sockets %q, errors %v", m.Completed, o.redials, o.sockets, m.Errors)
	}
	job.Sockets = Epoll
	if _, err := Run(t.Context(), job, nil, nil); err == nil || !strings.Contains(err.Error(), `sockets "epoll"`) {
		t.Errorf("epoll over TLS: error %v", err)
	}
}

package sim

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"regexp"
	"sync"
	"testing"
	"time"
)

// TestMain lets a test run the simulator as a process of its own, which a test
// of SIGKILL and SIGTERM needs.
func TestMain(m *testing.M) {
	if os.Getenv("SIM_TEST_MAIN") != "" {
		os.Exit(Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// output is a log that can be waited on.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func newOutput() *output { return &output{more: make(chan struct{}, 1)} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.more <- struct{}{}:
	default:
	}
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// wait returns the submatches of a pattern as soon as the log has it.
func (o *output) wait(t *testing.T, pattern string) []string {
	t.Helper()
	re, deadline := regexp.MustCompile(pattern), time.After(20*time.Second)
	for {
		if m := re.FindStringSubmatch(o.String()); m != nil {
			return m
		}
		select {
		case <-o.more:
		case <-deadline:
			t.Fatalf("no %q in the log:\n%s", pattern, o)
		}
	}
}

// live is a simulator that listens.
type live struct {
	t      *testing.T
	url    string
	log    *output
	access *output
	client *http.Client
}

// start runs the simulator in this process until the test ends. It returns as
// soon as the port is open; ready waits for the rest.
func start(t *testing.T, args ...string) *live {
	t.Helper()
	l := &live{t: t, log: newOutput(), access: newOutput(), client: newClient()}
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	argv := append([]string{"--model", "m", "--port", "0", "--preset", "small", "--startup-scale", "100"}, args...)
	go func() { code <- Main(ctx, argv, l.access, l.log) }()
	t.Cleanup(func() {
		l.client.CloseIdleConnections()
		cancel()
		if c := <-code; c != 0 {
			t.Errorf("exit status %d", c)
		}
	})
	l.url = l.log.wait(t, `Uvicorn running on (http://\S+)`)[1]
	return l
}

func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512}}
}

func (l *live) ready() *live {
	l.t.Helper()
	l.log.wait(l.t, "The server is fired up and ready to roll!")
	return l
}

func (l *live) get(path string) (int, string) {
	l.t.Helper()
	resp, err := l.client.Get(l.url + path)
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

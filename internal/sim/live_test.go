package sim

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
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

// reply is what a client saw of one stream.
type reply struct {
	events      []event
	sent        time.Time
	first, last time.Time
	done        bool
}

type event struct {
	Text  string           `json:"text"`
	Error *json.RawMessage `json:"error"`
	Meta  struct {
		ID     string `json:"id"`
		Finish *struct {
			Type   string `json:"type"`
			Length int    `json:"length"`
		} `json:"finish_reason"`
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Cached     int `json:"cached_tokens"`
	} `json:"meta_info"`
}

func (r reply) final() event { return r.events[len(r.events)-1] }

// tpot is the time per output token after the first.
func (r reply) tpot() time.Duration {
	return r.last.Sub(r.first) / time.Duration(r.final().Meta.Completion-1)
}

// body is a streaming request of so many token ids, distinct by its first.
func body(first, in, out int) string {
	ids := make([]int, in)
	ids[0] = first
	b, _ := json.Marshal(ids)
	return fmt.Sprintf(`{"input_ids":%s,"sampling_params":{"max_new_tokens":%d,"ignore_eos":true},"stream":true}`, b, out)
}

func (r *reply) decode(raw []string) error {
	r.events = make([]event, len(raw))
	for i, data := range raw {
		if err := json.Unmarshal([]byte(data), &r.events[i]); err != nil {
			return fmt.Errorf("%s: %w", data, err)
		}
	}
	return nil
}

func (l *live) stream(request string) (reply, error) {
	r := reply{sent: time.Now()}
	resp, err := l.client.Post(l.url+"/generate", "application/json", strings.NewReader(request))
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return r, fmt.Errorf("status %s", resp.Status)
	}
	var raw []string // decoded afterwards, so that decoding does not slow the reading
	for lines := bufio.NewReader(resp.Body); ; {
		line, err := lines.ReadString('\n')
		if err == io.EOF && r.done {
			return r, r.decode(raw)
		}
		if err != nil {
			return r, err
		}
		data, isData := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		switch {
		case !isData:
		case data == "[DONE]":
			r.done = true
		default:
			r.last = time.Now()
			if r.first.IsZero() {
				r.first = r.last
			}
			raw = append(raw, data)
		}
	}
}

// burst sends n streams at once and waits for all.
func (l *live) burst(n, in, out int) []reply {
	l.t.Helper()
	replies, errs := make([]reply, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { replies[i], errs[i] = l.stream(body(i+1, in, out)) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			l.t.Fatal(err)
		}
	}
	return replies
}

package sim

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// raw sends a body and returns everything that comes back.
func (l *live) raw(path, body string) (int, string) {
	l.t.Helper()
	resp, err := l.client.Post(l.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// B10, B11: streams that go wrong, each its own way, evenly spread.
func TestB10StreamsGoWrong(t *testing.T) {
	t.Parallel()
	for fault, c := range map[string]struct {
		bad    int // of 10
		looks  func(string) bool
		status int
	}{
		"stream-error:0.3": {3, func(s string) bool { return strings.HasPrefix(s, `data: {"error":{"message":"`) && ended(s) }, 200},
		"stream-error:1:5": {10, func(s string) bool {
			return strings.Contains(s, `"completion_tokens":5,`) && strings.Contains(s, `{"error":`) && ended(s)
		}, 200},
		"abort:0.5": {5, func(s string) bool {
			return strings.Contains(s, `"finish_reason":{"type":"abort"`) && strings.Contains(s, `"completion_tokens":5,`) && ended(s)
		}, 200},
		"early-close:0.2:3": {2, func(s string) bool { return strings.Contains(s, `"completion_tokens":3,`) && !ended(s) }, 200},
		"empty-body:0.1":    {1, func(s string) bool { return s == "" }, 200},
	} {
		t.Run(fault, func(t *testing.T) {
			l := start(t, "--time-scale", "50", "--fault", fault).ready()
			bad := 0
			for i := range 10 {
				status, text := l.raw("/generate", body(i+1, 8, 20))
				switch good := strings.Contains(text, `"type":"length"`) && ended(text); {
				case status != c.status:
					t.Errorf("status %d", status)
				case c.looks(text):
					bad++
				case !good:
					t.Errorf("neither good nor bad as asked: %q", text)
				}
			}
			if bad != c.bad {
				t.Errorf("%d of 10 went wrong, want %d", bad, c.bad)
			}
			if code, _ := l.get("/flush_cache?timeout=5"); code != http.StatusOK {
				t.Error("a spoilt request still runs")
			}
		})
	}
}

func ended(stream string) bool { return strings.HasSuffix(stream, "data: [DONE]\n\n") }

// B10: without a stream the same errors have a status.
func TestB10WholeAnswersGoWrong(t *testing.T) {
	t.Parallel()
	l := start(t, "--time-scale", "50", "--fault", "stream-error:1").ready()
	if status, text := l.raw("/generate", `{"text":"a","sampling_params":{"max_new_tokens":9}}`); status != 500 || !strings.Contains(text, `{"error":{"message":`) {
		t.Errorf("%d %s", status, text)
	}
	if status, text := l.raw("/v1/completions", `{"prompt":"a"}`); status != 500 || !strings.Contains(text, `"object":"error"`) {
		t.Errorf("%d %s", status, text)
	}
}

// B12: every request above the limit is refused at once.
func TestB12RefusesAboveAConcurrency(t *testing.T) {
	t.Parallel()
	l := start(t, "--fault", "refuse:2", "--preset", "fixed", "--time-scale", "4").ready()
	var all sync.WaitGroup
	statuses := make([]int, 6)
	for i := range statuses {
		all.Go(func() { statuses[i], _ = l.raw("/generate", body(i+1, 8, 10)) })
	}
	all.Wait()
	count := map[int]int{}
	for _, s := range statuses {
		count[s]++
	}
	if count[200] < 2 || count[503] < 3 { // two may pass the check at one moment
		t.Errorf("statuses %v", statuses)
	}
}

// B05: no token any more, /health fails, then the watchdog ends the server.
func TestB05WatchdogEndsAServerThatStalls(t *testing.T) {
	t.Parallel()
	cmd, log := spawn(t, "--fault", "watchdog:2", "--port", "0", "--watchdog-timeout", "30")
	l := &live{t: t, log: log, url: log.wait(t, `Uvicorn running on (http://\S+)`)[1], client: newClient()}
	l.ready()
	served := 0
	for i := range 3 {
		if r, err := l.stream(body(i+1, 8, 4)); err == nil && r.done {
			served++
		}
	}
	if got := exitOf(t, cmd.Wait()); got != -int(syscall.SIGKILL) || served > 2 {
		t.Errorf("ended with %d after %d requests", got, served)
	}
	inOrder(t, log.String(), "(idle): \"MainThread\"", "Scheduler watchdog timeout (self.watchdog_timeout=30.0, self.soft=False)", "SIGQUIT received.")
}

// B04, B08: dies under load, with words and without.
func TestDiesUnderLoad(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]string{"nan:3": "probability tensor contains either", "kill:3": ""} {
		cmd, log := spawn(t, "--fault", fault, "--port", "0")
		l := &live{t: t, log: log, url: log.wait(t, `Uvicorn running on (http://\S+)`)[1], client: newClient()}
		l.ready()
		failed := 0
		for i := range 6 {
			if _, err := l.stream(body(i+1, 8, 4)); err != nil {
				failed++
			}
		}
		if got := exitOf(t, cmd.Wait()); got != -int(syscall.SIGKILL) || failed < 3 {
			t.Errorf("%s: ended with %d, %d of 6 failed", fault, got, failed)
		}
		if text := log.String(); !strings.Contains(text, want) || want == "" && strings.Contains(text, "SIGQUIT") {
			t.Errorf("%s: log\n%s", fault, text)
		}
	}
}

// A09, D18: slower at first, or ever slower.
func TestA09SlowerThanTheModel(t *testing.T) {
	e := engine{scale: 1, log: &logger{out: io.Discard}, since: time.Now()}
	at := func(f faults, started int, later time.Duration) float64 {
		e.faults, e.started = f, started
		return e.slower(e.since.Add(later))
	}
	var cold, drift faults
	for _, err := range []error{cold.parse("cold:3"), drift.parse("drift:10")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if at(cold, 2, time.Minute) != 2 || at(cold, 3, time.Minute) != 1 {
		t.Error("cold")
	}
	if got := at(drift, 0, 3*time.Minute); got < 1.299 || got > 1.301 {
		t.Errorf("drift: %v", got)
	}
}

func TestFloodOfLogLines(t *testing.T) {
	t.Parallel()
	l := start(t, "--time-scale", "100", "--fault", "flood:20000").ready()
	deadline := time.Now().Add(10 * time.Second)
	for strings.Count(l.log.String(), "Using default MoE kernel config") < 2000 {
		if time.Now().After(deadline) {
			t.Fatal("no flood")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

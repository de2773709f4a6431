package bench

import (
	"bufio"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"sweep/internal/stats"
)

// Environment of `make bench-load`.
const (
	loadWanted = "SWEEP_LOAD"         // runs TestLoad; a number is how often each figure is taken
	loadPoints = "SWEEP_LOAD_STREAMS" // numbers of streams instead of 1, 256, 1,024 and 2,048
	loadNice   = "SWEEP_LOAD_NICE"    // how nice its processes are: -20, as root, keeps a shared machine's other work away
	loadRole   = "SWEEP_LOAD_ROLE"    // server, floor or client: what a process of it is
	loadJob    = "SWEEP_LOAD_SPEC"    // JSON of a load
	loadOut    = "SWEEP_LOAD_OUT"     // the file that a process leaves
)

// load is one point: so many streams, each paced.
type load struct {
	URL             string
	Streams, Waves  int
	Prompts, Tokens int
	TTFT, TPOT      time.Duration
	Sockets         Sockets
}

func (l load) level() Level {
	return Level{Mode: Closed, Concurrency: l.Streams, Prompts: l.Prompts, Workload: Workload{Name: "load", InputLen: 128, OutputLen: l.Tokens, RangeRatio: 1, Seed: 1}}
}

// rate is the events a second when nothing is late.
func (l load) rate() float64 {
	return float64(l.Streams*l.Tokens) / (l.TTFT + time.Duration(l.Tokens-1)*l.TPOT).Seconds()
}

// loadSpec is what a process of TestLoad is told. Others skip.
func loadSpec(t *testing.T, role string) (l load, out string) {
	t.Helper()
	if os.Getenv(loadRole) != role {
		t.Skip("a process of `make bench-load`")
	}
	if err := json.Unmarshal([]byte(os.Getenv(loadJob)), &l); err != nil {
		t.Fatal(err)
	}
	return l, os.Getenv(loadOut)
}

// epollPwait2 waits with the resolution of nanoseconds; a negative wait has no end.
func epollPwait2(epoll int, events []unix.EpollEvent, wait time.Duration) (n int, _ uintptr, code unix.Errno) {
	until := unix.NsecToTimespec(int64(max(wait, 0)))
	at := unsafe.Pointer(&until)
	if wait < 0 {
		at = nil
	}
	r, _, code := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(epoll), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(at), 0, 0)
	return int(r), 0, code
}

// spawn starts this binary in a role, on one core.
func spawn(t *testing.T, role string, core int, spec load, out string) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
	t.Helper()
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	test := map[string]string{"server": "TestLoadServer", "floor": "TestLoadFloor", "client": "TestLoadClient"}[role]
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), loadRole+"="+role, loadJob+"="+string(text), loadOut+"="+out)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // the child inherits the core of the thread that starts it
	defer runtime.UnlockOSThread()
	var before, one unix.CPUSet
	one.Set(core)
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Fatalf("core %d: %v", core, err)
	}
	defer func() { _ = unix.SchedSetaffinity(0, &before) }()
	if nice, err := strconv.Atoi(os.Getenv(loadNice)); err == nil {
		if err := unix.Setpriority(unix.PRIO_PROCESS, 0, nice); err != nil { // of this thread
			t.Fatalf("be as nice as %d: %v", nice, err)
		}
		defer func() { _ = unix.Setpriority(unix.PRIO_PROCESS, 0, 0) }()
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, in, bufio.NewReader(pipe)
}

// against runs one client against a fresh server, each on a core of its own.
func against(t *testing.T, role string, spec load) (loadResult, []written) {
	t.Helper()
	dir := t.TempDir()
	server, stop, said := spawn(t, "server", 0, spec, filepath.Join(dir, "server"))
	var port int
	for {
		line, err := said.ReadString('\n')
		if err != nil {
			t.Fatalf("the server said %q: %v", line, err)
		}
		if _, err := fmt.Sscanf(line, "listening %d", &port); err == nil {
			break
		}
	}
	spec.URL = fmt.Sprintf("http://127.0.0.1:%d", port)
	client, _, out := spawn(t, role, 1, spec, filepath.Join(dir, "client"))
	text, _ := io.ReadAll(out)
	if err := client.Wait(); err != nil {
		t.Fatalf("%s: %v\n%s", role, err, text)
	}
	stop.Close()
	io.Copy(io.Discard, said)
	if err := server.Wait(); err != nil {
		t.Fatalf("server: %v", err)
	}
	var result loadResult
	var truth []written
	readGob(t, filepath.Join(dir, "client"), &result)
	readGob(t, filepath.Join(dir, "server"), &truth)
	return result, truth
}

func readGob(t *testing.T, path string, into any) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := gob.NewDecoder(f).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// TestLoad is `make bench-load`: the client beside the floor, and its figures
// beside the server's own record. It asserts nothing about speed.
func TestLoad(t *testing.T) {
	if os.Getenv(loadWanted) == "" {
		t.Skip("run `make bench-load`")
	}
	if runtime.NumCPU() < 2 {
		t.Skip("needs two cores")
	}
	var runs int
	if _, err := fmt.Sscan(os.Getenv(loadWanted), &runs); err != nil || runs < 1 {
		runs = 5
	}
	average, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("load average before: %s", average)
	sockets := Sockets(os.Getenv(socketsUnderTest))
	points := []int{1, 256, 1024, 2048}
	if text := os.Getenv(loadPoints); text != "" {
		points = nil
		for _, field := range strings.Fields(text) {
			points = append(points, number([]byte(field), 1))
		}
	}
	for _, streams := range points {
		l := load{Streams: streams, Waves: 3, Tokens: 128, TTFT: 150 * time.Millisecond, TPOT: 20 * time.Millisecond, Sockets: sockets}
		l.Prompts = l.Waves * streams
		figures(t, l, runs)
	}
	fastest(t, runs, sockets)
	average, _ = os.ReadFile("/proc/loadavg")
	fmt.Printf("load average after: %s", average)
}

// figures prints the medians of one point.
func figures(t *testing.T, l load, runs int) {
	t.Helper()
	table := map[string][]float64{}
	var names []string
	add := func(name string, value float64) {
		if table[name] == nil {
			names = append(names, name)
		}
		table[name] = append(table[name], value)
	}
	for range runs {
		events := float64(l.Prompts * l.Tokens)
		floor, floorTruth := against(t, "floor", l)
		ours, truth := against(t, "client", l)
		e := compare(t, l, ours, truth)
		floorCPU, ourCPU := floor.CPU.Seconds()*1e6/events, ours.CPU.Seconds()*1e6/events
		add("CPU of the floor, us an event", floorCPU)
		add("CPU of the client, us an event", ourCPU)
		add("  client / floor", ourCPU/floorCPU)
		add("TTFT error p50, ms", e.ttft50)
		add("TTFT error p99, ms", e.ttft99)
		add("ITL error p50, ms", e.itl50)
		add("ITL error p99, ms", e.itl99)
		add("ITL p99 client - server, ms", e.itlTail)
		add("output tok/s error, %", e.output)
		add("server slowed, %", e.slowed)
		add("  by the floor, %", slowed(l, floorTruth))
		add("event lag p50, ms", *ours.Lag.P50)
		add("event lag p99, ms", *ours.Lag.P99)
		add("stamped by the kernel, %", 100*ours.Stamped)
		add("client core, %", 100*ours.CPU.Seconds()/ours.Took.Seconds())
		add("peak RSS, MB", float64(ours.RSS)/1e6)
	}
	fmt.Printf("\n%d streams, TPOT %s, %d requests of %d tokens, %.0f events/s: medians of %d\n", l.Streams, l.TPOT, l.Prompts, l.Tokens, l.rate(), runs)
	for _, name := range names {
		all := slices.Sorted(slices.Values(table[name]))
		fmt.Printf("%-34s %9.3f   (%.3f to %.3f)\n", name, *stats.Median(all), all[0], all[len(all)-1])
	}
}

// fastest looks for the highest rate at which the ITL's error stays below 5 ms in
// the median of several runs and the server gets its events out.
func fastest(t *testing.T, runs int, sockets Sockets) {
	t.Helper()
	fmt.Printf("\n1,024 streams, faster and faster: median ITL error p99 of %d\n", min(runs, 3))
	for rate := 60_000; rate <= 160_000; rate += 10_000 {
		l := load{Streams: 1024, Waves: 1, Prompts: 1024, Tokens: 320, TTFT: 150 * time.Millisecond, TPOT: 1024 * time.Second / time.Duration(rate), Sockets: sockets}
		var errs, rates []float64
		for range min(runs, 3) {
			ours, truth := against(t, "client", l)
			errs = append(errs, compare(t, l, ours, truth).itl99)
			rates = append(rates, steadyRate(truth))
		}
		itl, got := *stats.Median(errs), *stats.Median(rates)
		fmt.Printf("%7d events/s asked, %7.0f written: ITL error p99 %.3f ms\n", rate, got, itl)
		if itl > 5 || got < 0.9*float64(rate) {
			return
		}
	}
}

// steadyRate is the events a second while every stream was under way.
func steadyRate(truth []written) float64 {
	from, to, n := time.Duration(0), time.Duration(math.MaxInt64), 0
	for _, w := range truth {
		from, to = max(from, w.Writes[0]), min(to, w.Writes[len(w.Writes)-1])
	}
	for _, w := range truth {
		for _, at := range w.Writes {
			if at > from && at <= to {
				n++
			}
		}
	}
	return float64(n) / (to - from).Seconds()
}

// loadErrors are how far the client's figures are from the server's record: of each
// request and of each event, not of percentiles.
type loadErrors struct {
	ttft50, ttft99, itl50, itl99, itlTail, output, slowed float64
}

func compare(t *testing.T, l load, r loadResult, truth []written) loadErrors {
	t.Helper()
	byID := map[int]written{}
	for _, w := range truth {
		byID[w.First] = w
	}
	if len(r.Requests) != l.Prompts || len(byID) != l.Prompts || r.Failed > 0 {
		t.Fatalf("%d requests, %d failed, the server has %d", len(r.Requests), r.Failed, len(byID))
	}
	var ttft, itl, mine, theirs []float64
	for _, x := range r.Requests {
		w := byID[x.First]
		if len(w.Writes) != l.Tokens || len(x.Arrivals) != l.Tokens {
			t.Fatalf("request %d: %d events written, %d seen", x.First, len(w.Writes), len(x.Arrivals))
		}
		ttft = append(ttft, math.Abs(ms((x.Arrivals[0]-x.Sent)-(w.Writes[0]-w.Received))))
		for i := 1; i < l.Tokens; i++ {
			a, b := ms(x.Arrivals[i]-x.Arrivals[i-1]), ms(w.Writes[i]-w.Writes[i-1])
			mine, theirs, itl = append(mine, a), append(theirs, b), append(itl, math.Abs(a-b))
		}
	}
	first, gaps := stats.Summarize(ttft), stats.Summarize(itl)
	return loadErrors{ttft50: *first.P50, ttft99: *first.P99, itl50: *gaps.P50, itl99: *gaps.P99,
		itlTail: *stats.Summarize(mine).P99 - *stats.Summarize(theirs).P99,
		output:  100 * math.Abs(r.Output/serverRate(truth)-1), slowed: slowed(l, truth)}
}

// serverRate is the output tok/s by the server's record.
func serverRate(truth []written) float64 {
	from, to, n := time.Duration(math.MaxInt64), time.Duration(0), 0
	for _, w := range truth {
		from, to, n = min(from, w.Received), max(to, w.Writes[len(w.Writes)-1]), n+len(w.Writes)
	}
	return float64(n) / (to - from).Seconds()
}

// slowed is by how many percent the server stayed below its own pace.
func slowed(l load, truth []written) float64 { return 100 * (1 - serverRate(truth)/l.rate()) }

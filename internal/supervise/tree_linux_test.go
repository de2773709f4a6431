package supervise

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTree(t *testing.T) {
	// pid, start, parent, session of a supervisor 100 and its command 101.
	type row [4]int
	supervisor, command := row{100, 50, 1, 100}, row{101, 51, 100, 100}
	for _, c := range []struct {
		name   string
		rows   []row
		known  []identity
		output []int // pids that write to the output file
		want   []int
	}{
		{"whole", []row{supervisor, command, {102, 52, 101, 100}, {103, 53, 1, 9}}, nil, nil, []int{101, 102}},
		{"adopted, own session", []row{supervisor, command, {200, 60, 100, 200}, {201, 61, 200, 200}}, nil, nil, []int{101, 200, 201}},
		{"orphan: command known", []row{{101, 51, 1, 100}, {102, 52, 101, 102}, {103, 53, 1, 100}}, nil, nil, []int{101, 102, 103}},
		{"orphan: daemon known", []row{{200, 60, 1, 200}, {201, 61, 1, 200}}, []identity{{200, 60}}, nil, []int{200, 201}},
		{"orphan: a zombie still tells the session", []row{{101, 51, 1, 100}, {102, 52, 1, 100}}, nil, nil, []int{101, 102}},
		{"orphan: only the session, writes to our output", []row{{102, 52, 1, 100}, {103, 53, 1, 100}}, nil, []int{102}, []int{102, 103}},
		{"a session with the same number", []row{{102, 52, 1, 100}}, nil, nil, nil},
		{"the supervisor's pid is a stranger's, with children", []row{{100, 90, 1, 100}, {102, 91, 100, 100}}, nil, []int{102}, nil},
		{"the command's pid is a stranger's", []row{{101, 90, 1, 101}, {102, 91, 101, 101}}, nil, nil, nil},
		{"a known pid is a stranger's", []row{{200, 90, 1, 200}, {201, 91, 200, 200}}, []identity{{200, 60}}, nil, nil},
		{"a stranger's session and elders", []row{{100, 50, 7, 7}, {7, 5, 1, 7}, {8, 55, 7, 7}, {101, 51, 100, 7}, {9, 6, 101, 7}}, nil, nil, []int{101}},
		{"a session led from outside the namespace", []row{supervisor, command, {200, 60, 100, 0}, {201, 61, 0, 0}}, nil, nil, []int{101, 200}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := map[int]process{1: {identity: identity{1, 0}, session: 1, state: 'S'}}
			for _, r := range c.rows {
				all[r[0]] = process{identity: identity{r[0], uint64(r[1])}, parent: r[2], session: r[3], state: 'S', threads: 1}
			}
			writes := func(pid int) bool {
				for _, p := range c.output {
					if p == pid {
						return true
					}
				}
				return false
			}
			var got []int
			for _, p := range tree(all, record{Supervisor: identity{100, 50}, Command: identity{101, 51}}, c.known, writes) {
				got = append(got, p.PID)
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestSignalNeverHitsARecycledPid(t *testing.T) {
	_, s := hold(t, "sleep", "600")
	p, ok := thisMachine().process(s.PID)
	if !ok {
		t.Fatal("the command is not there")
	}
	other := p.identity
	other.Start--
	if err := thisMachine().signal(other, unix.SIGKILL); err == nil || !lives(s.PID) {
		t.Errorf("signalled another start time: %v, lives %v", err, lives(s.PID))
	}
}

func TestParseStat(t *testing.T) {
	const rest = " 4194304 1 2 3 4 5 6 7 8 20 0 %d 0 123456 1 2"
	for _, c := range []struct {
		line  string
		want  process
		alive bool
	}{
		{"42 (sh) S 7 40 39 0 -1" + fmt.Sprintf(rest, 1), process{identity{42, 123456}, "sh", 'S', 7, 40, 39, 1}, true},
		{"42 (a) b (c) R 1) Z 7 40 39 0 -1" + fmt.Sprintf(rest, 1), process{identity{42, 123456}, "a) b (c) R 1", 'Z', 7, 40, 39, 1}, false},
		{"42 () Z 7 0 0 0 -1" + fmt.Sprintf(rest, 9), process{identity{42, 123456}, "", 'Z', 7, 0, 0, 9}, true},
		{"42 (new\nline) X 7 0 0 0 -1" + fmt.Sprintf(rest, 0), process{identity{42, 123456}, "new\nline", 'X', 7, 0, 0, 0}, false},
	} {
		got, err := parseStat([]byte(c.line))
		if err != nil || got != c.want || got.alive() != c.alive {
			t.Errorf("%q: %+v alive %v, %v; want %+v", c.line, got, got.alive(), err, c.want)
		}
	}
	for _, line := range []string{"", "42", "42 (sh", "42 sh) S 1", "x (sh) S 1 2 3", "42 (sh) S 1 2 3", ") (", "-3 (sh) S 7 40 39 0 -1" + fmt.Sprintf(rest, 1)} {
		if p, err := parseStat([]byte(line)); err == nil {
			t.Errorf("%q: no error, %+v", line, p)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("42 (a) b (c) Z 7 40 39 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 1 2"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if p, err := parseStat(line); err == nil && p.PID <= 0 {
			t.Errorf("%q: pid %d", line, p.PID)
		}
	})
}

// What the supervisor costs once a second beside a benchmark.
func BenchmarkProcesses(b *testing.B) {
	var n int
	for b.Loop() {
		all, err := thisMachine().processes()
		if err != nil {
			b.Fatal(err)
		}
		n = len(all)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/process")
}

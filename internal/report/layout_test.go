package report

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// widestNight has figures as wide as they get in practice.
func widestNight(goodput string) Table {
	t := Table{Title: "night x, sweep y", Baseline: "b", Goodput: goodput, Marks: []string{"SIMULATED"}}
	for _, ms := range []float64{1234, 99_940, 9_994_000} {
		l := Level{Name: fmt.Sprint("c=", ms), Heading: "c", Goodput: goodput}
		for i := range 12 {
			v := 999_900.0
			f := Figure{Median: ptr(v), Low: ptr(v * 0.9), High: ptr(v * 1.1), N: 12}
			time := Figure{Median: ptr(ms), N: 12}
			l.Rows = append(l.Rows, Row{Rank: i + 1, Name: strings.Repeat("axis=label,", 12) + fmt.Sprint("x=", i), Verdict: "valid", N: 12, Planned: 12,
				Figures: Figures{Output: f, Input: f, Total: f, PerStream: Figure{Median: ptr(123.4), N: 12},
					TTFTp50: time, TTFTp99: time, TPOTp50: time, TPOTp99: time, E2Ep50: time, E2Ep99: time,
					Goodput: Figure{Median: ptr(9999.0), N: 12}, GoodputShare: Figure{Median: ptr(1.0), N: 12}},
				Delta: &Delta{Percent: -1234.5, N: 12, BaselineN: 12, Hosts: true}})
		}
		t.Levels = append(t.Levels, l)
	}
	return t
}

// All figures of a row stand on one line of 80 cells, whatever they are.
func TestFiguresFitOneLineOf80(t *testing.T) {
	tables := map[string]Table{"widest": widestNight(""), "widest with goodput": widestNight("TTFT ≤ 2 s")}
	for name, in := range allInputs() {
		tables[name] = Build(in)
	}
	for name, table := range tables {
		if len(table.Levels) == 0 {
			continue
		}
		s := arrange(table, 80)
		if len(s.lines) != 1 || s.width() > 80 {
			t.Errorf("%s: %d lines, %d cells", name, len(s.lines), s.width())
		}
		for _, line := range strings.Split(write(t, table, TextOptions{Width: 80}), "\n") {
			if cells(line) > 80 {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

func TestNamesStandBesideFiguresWhereTheyFit(t *testing.T) {
	for _, c := range []struct {
		table        Table
		width        int
		name, record bool
	}{
		{Build(goodNight()), 80, false, false},
		{Build(goodNight()), 132, false, false},
		{Build(goodNight()), 150, true, false},
		{Build(badNight()), 200, true, true},
		{Build(goodNight()), 200, true, true},
		{widestNight(""), 200, false, false},
	} {
		if s := arrange(c.table, c.width); s.name > 0 != c.name || s.record != c.record {
			t.Errorf("%s at %d: names beside %v, input and total beside %v", c.table.Title, c.width, s.name > 0, s.record)
		}
	}
}

// Input and total tokens stand apart from the result, once.
func TestInputAndTotalAreNoResult(t *testing.T) {
	for width, want := range map[int]int{80: 1, 132: 1, 200: 0} {
		out := write(t, Build(goodNight()), TextOptions{Width: width})
		if n := strings.Count(out, "for the record: not comparable with output tok/s"); n != want {
			t.Errorf("at %d: %d times", width, n)
		}
		if n := strings.Count(out, "total tok/s"); n != max(want, 3*(1-want)) {
			t.Errorf("at %d: %d headers of total tok/s", width, n)
		}
	}
}

// Where goodput takes their room, E2E times move and keep their units.
func TestGoodputMovesE2E(t *testing.T) {
	for width, moved := range map[int]bool{60: false, 80: true, 200: false} {
		out := write(t, Build(goodNight()), TextOptions{Width: width})
		if !strings.Contains(out, "goodput") || strings.Contains(out, "E2E p99") != moved || strings.Contains(out, "92.30 s") != moved {
			t.Errorf("at %d:\n%s", width, out)
		}
	}
}

func TestLongTimesAreSeconds(t *testing.T) {
	out := write(t, widestNight(""), TextOptions{Width: 80})
	for _, want := range []string{"TTFT ms", "TTFT s", "99,940", "9,994"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(out, "9,994,000") {
		t.Error("milliseconds that nobody can read")
	}
}

// Simulated figures are called so above, at each level and below.
func TestSimulatedIsSaidEverywhere(t *testing.T) {
	table := Build(goodNight())
	for _, width := range []int{60, 80, 200} {
		lines := strings.Split(strings.TrimSpace(write(t, table, TextOptions{Width: width})), "\n")
		if !strings.HasPrefix(lines[1], "SIMULATED") {
			t.Errorf("at %d the second line is %s", width, lines[1])
		}
		if end := strings.Join(lines[len(lines)-2:], "\n"); !strings.Contains(end, "SIMULATED") {
			t.Errorf("at %d the end is %s", width, end)
		}
		if n := strings.Count(strings.Join(strings.Fields(strings.Join(lines, " ")), " "), "prompts · SIMULATED"); n != len(table.Levels) {
			t.Errorf("at %d only %d levels say so", width, n)
		}
	}
}

// Marks are explained where they occur and only there.
func TestLegendHasTheMarksThatOccur(t *testing.T) {
	good, bad := Build(goodNight()).legend(), Build(badNight()).legend()
	for _, c := range []struct {
		mark      string
		good, bad bool
	}{{"✗", false, true}, {"– not ranked", false, true}, {"~", true, false}, {"†", false, false}} {
		if strings.Contains(good, c.mark) != c.good || strings.Contains(bad, c.mark) != c.bad {
			t.Errorf("%s: %q and %q", c.mark, good, bad)
		}
	}
}

func TestCautionsAreSaidOnce(t *testing.T) {
	n := newNight(labelled("c1", "x", "1"), labelled("c2", "x", "2"))
	n.plan.Configurations[0].Baseline = true
	n.plan.Runs = n.plan.Runs[:2]
	for o := 1; o <= 2; o++ {
		n.add(o, true, measure(levels[0], 10), measure(levels[1], 400), measure(levels[2], float64(700*o)))
	}
	out := write(t, Build(n.input("x")), TextOptions{Width: 80})
	if strings.Count(out, "no interval") != 1 {
		t.Error(out)
	}
}

func TestWrapKeepsNumbersWhole(t *testing.T) {
	number := regexp.MustCompile(`^[0-9][0-9,.]*[0-9]$`)
	text := "a 1,344 output tok/s 12,345,678 x=1,y=2 aaaaaaaaaaaaaaaaaa1,234,567.89bbbbbbbbbbbbbbbb 0.85"
	for width := 8; width < 60; width++ {
		joined := strings.Join(wrap(text, width), "\n")
		for _, n := range []string{"1,344", "12,345,678", "0.85", "1,234,567.89"} {
			if !number.MatchString(n) || cells(n) <= width && !strings.Contains(joined, n) {
				t.Errorf("at %d %s is broken:\n%s", width, n, joined)
			}
		}
	}
	for name, want := range map[string]string{
		"": "", "x=1": "x=1", "x=1,y=2": "x=1, y=2", "bs=1,2,4,tp=8": "bs=1,2,4, tp=8", "a, b": "a, b", "a,": "a,", ",5": ", 5",
	} {
		if got := spaced(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestWhen(t *testing.T) {
	at := func(s string) *time.Time {
		v, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return &v
	}
	for _, c := range []struct {
		from, to *time.Time
		want     string
	}{
		{nil, nil, ""},
		{at("2026-12-01T20:15:00Z"), at("2026-12-01T20:15:30Z"), "2026-12-01 21:15 CET"},
		{at("2026-12-01T20:15:00Z"), at("2026-12-01T22:40:00Z"), "2026-12-01 21:15 to 23:40 CET"},
		{at("2026-12-01T20:15:00Z"), at("2026-12-02T05:40:00Z"), "2026-12-01 21:15 to 2026-12-02 06:40 CET"},
	} {
		if got := (Table{From: c.from, To: c.to}).when(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

package report

import (
	"bytes"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"sweep/internal/bench"
	"sweep/internal/sweep"
)

func write(t *testing.T, table Table, o TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := table.Text(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func allInputs() map[string]Input {
	return map[string]Input{"good": goodNight(), "bad": badNight(), "hostile": hostileNight(), "empty": {}, "planned": newNight(labelled("c1", "a", "b")).input("x")}
}

// At every width every line fits and the same words are there.
func TestTextFitsAndLosesNothing(t *testing.T) {
	numbers := regexp.MustCompile(`[0-9][0-9,.]*`)
	for name, in := range allInputs() {
		table := Build(in)
		var want []string
		for _, width := range []int{240, 200, 160, 132, 120, 100, 80, 72, 60} {
			out := write(t, table, TextOptions{Width: width})
			for _, line := range strings.Split(out, "\n") {
				if cells(line) > width {
					t.Errorf("%s: %d cells in a line of %d: %s", name, cells(line), width, line)
				}
			}
			found := numbers.FindAllString(out, -1)
			slices.Sort(found)
			found = slices.Compact(found)
			if want == nil {
				want = found
			}
			for _, n := range want {
				if _, ok := slices.BinarySearch(found, n); !ok && width >= 72 {
					t.Errorf("%s at %d: %s is missing", name, width, n)
				}
			}
		}
	}
}

func TestColourSaysNothingMore(t *testing.T) {
	sgr := regexp.MustCompile("\x1b\\[[0-9]+m")
	for name, in := range allInputs() {
		table := Build(in)
		painted := write(t, table, TextOptions{Width: 90, Color: true})
		if name == "bad" && !sgr.MatchString(painted) {
			t.Error("no colour at all")
		}
		bare := strings.Split(sgr.ReplaceAllString(painted, ""), "\n")
		for i, line := range strings.Split(write(t, table, TextOptions{Width: 90}), "\n") {
			if strings.TrimRight(bare[i], " ") != line {
				t.Errorf("%s: %q painted is %q", name, line, bare[i])
			}
		}
	}
}

// A headline of "3,740 tok/s" was once input plus output.
func TestC28NoBareThroughput(t *testing.T) {
	qualified := regexp.MustCompile(`(output|input|total) tok/s`)
	run, findings := shownRun()
	var shown bytes.Buffer
	if err := RunText(&shown, run, findings, TextOptions{Width: 70}); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"run": shown.String()}
	for name, in := range allInputs() {
		var md bytes.Buffer
		if err := Build(in).Markdown(&md); err != nil {
			t.Fatal(err)
		}
		texts[name], texts[name+" md"] = write(t, Build(in), TextOptions{Width: 64}), md.String()
	}
	for name, text := range texts {
		for _, line := range strings.Split(text, "\n") {
			if strings.Count(line, "tok/s") != len(qualified.FindAllString(line, -1)) || strings.Contains(line, "throughput") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

func TestNothingReachesTheTerminal(t *testing.T) {
	table := Build(hostileNight())
	run, findings := shownRun()
	var md, js, shown, list bytes.Buffer
	for _, err := range []error{table.Markdown(&md), table.JSON(&js), RunText(&shown, run, findings, TextOptions{}),
		List(&list, []NightLine{{ID: hostile, Host: hostile, State: hostile, Summary: hostile}}, TextOptions{})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, out := range map[string]string{"text": write(t, table, TextOptions{}), "markdown": md.String(), "json": js.String(), "run": shown.String(), "list": list.String()} {
		if i := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }); i >= 0 {
			t.Errorf("%s: %q", name, out[i:min(len(out), i+20)])
		}
	}
	for _, line := range strings.Split(md.String(), "\n") {
		if strings.Contains(line, "<script") || strings.HasPrefix(line, "|") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 15 {
			t.Errorf("Markdown lets it out: %s", line)
		}
	}
}

func TestRunWithoutARecord(t *testing.T) {
	run := sweep.Run{ID: "c1", Name: "r1", Measurements: []bench.Measurement{measure(levels[0], 10)}}
	var b bytes.Buffer
	if err := RunText(&b, run, nil, TextOptions{}); err != nil || !strings.Contains(b.String(), "no record of it can be read") {
		t.Errorf("%v: %s", err, b.String())
	}
	table := Build(ForRuns("x", []Side{{"A", []sweep.Run{run, newRun(labelled("c2", "x", "2"), 1, true, measure(levels[0], 10))}}}, nil))
	if len(table.Levels[0].Rows) != 2 {
		t.Errorf("%+v", table.Levels[0].Rows)
	}
}

func TestShellWordsComeBack(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here to read them")
	}
	for _, word := range []string{"", "plain", "a b", `{"x":  1}`, "$HOME", "*", ";", "it's", `\`, "a\nb", "\x1b[31m", "東京", "\xff", "-x", "`id`", "'\x01'\\"} {
		out, err := exec.CommandContext(t.Context(), bash, "-c", "printf %s "+shellWord(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q came back as %q (%v) from %s", word, out, err, shellWord(word))
		}
		if strings.ContainsFunc(shellWord(word), unicode.IsControl) {
			t.Errorf("%q is shown with control characters", word)
		}
	}
}

func TestList(t *testing.T) {
	var b bytes.Buffer
	if err := List(&b, nil, TextOptions{}); err != nil || !strings.Contains(b.String(), "no nights yet") {
		t.Errorf("%v %s", err, b.String())
	}
	golden(t, "list", func(w io.Writer) error {
		return List(w, []NightLine{
			{ID: "20261201-221500-glm5", Host: "rtx6k", Started: evening, Planned: 24, Done: 22, Failed: 2, State: "finished", Summary: "66 levels measured, 0 reused, 2 runs failed, 0 not run"},
			{ID: "20261202-054413-demo", Planned: 12, Done: 3, State: "unfinished"},
		}, TextOptions{Width: 80})
	})
}

// A night and a run fit the terminal, but for the command that must paste.
func TestListAndRunFit(t *testing.T) {
	run, findings := shownRun()
	slow := measure(levels[2], 0.9) // E2E times of ten digits
	slow.Level.Concurrency, slow.Key = 255, "slow"
	run.Measurements = append(run.Measurements, slow)
	nights := map[string][]NightLine{
		"short": {{ID: "20261201-221500-glm5", Host: "rtx6k", Started: evening, Planned: 24, Done: 22, State: "unfinished"}},
		"long": {{ID: "20261201-221500-" + strings.Repeat("glm5-", 16), Host: strings.Repeat("rack7-", 12), Started: evening, Planned: 12345, Done: 12345, Failed: 12345,
			State: "unfinished", Summary: strings.Repeat("66 levels measured, ", 9)}},
	}
	for _, width := range []int{60, 72, 80, 100, 200} {
		outs := map[string]string{}
		for name, list := range nights {
			var b bytes.Buffer
			if err := List(&b, list, TextOptions{Width: width}); err != nil {
				t.Fatal(err)
			}
			outs[name] = b.String()
			if !strings.Contains(outs[name], "unfinished") {
				t.Errorf("%s at %d has no state: %s", name, width, outs[name])
			}
		}
		var b bytes.Buffer
		if err := RunText(&b, run, findings, TextOptions{Width: width}); err != nil {
			t.Fatal(err)
		}
		outs["run"] = b.String()
		for name, out := range outs {
			for _, line := range strings.Split(out, "\n") {
				if cells(line) > width && !strings.Contains(line, "sglang.launch_server") {
					t.Errorf("%s: %d cells in a line of %d: %s", name, cells(line), width, line)
				}
			}
		}
	}
	var b bytes.Buffer
	if err := List(&b, nights["short"], TextOptions{Width: 80}); err != nil || strings.Count(b.String(), "\n") != 2 {
		t.Errorf("an ordinary night needs more than a line at 80: %v\n%s", err, b.String())
	}
}

func FuzzClean(f *testing.F) {
	f.Add(hostile)
	f.Add("\x1b[\x1b[31m\u009b31m\x1bPq\x1b\\\x1b(B")
	f.Fuzz(func(t *testing.T, s string) {
		c := clean(s)
		if strings.ContainsFunc(c, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Errorf("%q became %q", s, c)
		}
		if clean(c) != c {
			t.Errorf("%q is not stable: %q", c, clean(c))
		}
		for _, line := range wrap(c, 12) {
			if cells(line) > 12 {
				t.Errorf("%q is wider than 12", line)
			}
		}
		if strings.Contains(strings.ReplaceAll(markdown(c), `\|`, ""), "|") && !strings.Contains(c, `\`) {
			t.Errorf("%q ends a cell: %q", c, markdown(c))
		}
	})
}

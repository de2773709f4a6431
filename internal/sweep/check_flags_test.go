package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sweep/internal/sglang"
)

// flagCase is a file with a server of two sizes and the flags of a case.
func flagCase(flags, matrix string) string {
	return complete("server:\n  command: [python3, -m, sglang.launch_server]\n  flags:\n    model-path: m\n" + flags + "matrix:\n" + matrix)
}

const sizes = "  parallel:\n    tp8: {tp-size: 8}\n    tp4-pp2: {tp-size: 4, pp-size: 2}\n"

func checkText(t *testing.T, text, version string, o FlagCheck) (*Spec, FlagReport) {
	t.Helper()
	spec, err := Decode("case.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := NewPlan(spec, PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	fs, _ := sglang.Flags(version)
	return spec, CheckFlags(plan, fs, o)
}

func TestCheckFlags(t *testing.T) {
	for name, c := range map[string]struct {
		flags, matrix, version   string
		options                  FlagCheck
		errors, warnings, remark []string
	}{
		"good": {"    enable-metrics: true\n", "  tp-size: [4, 8]\n", "0.5.10.post1", FlagCheck{}, nil, nil, nil},
		"near match in all": {"    quantizaton: modelopt_fp4\n", sizes, "0.5.10.post1", FlagCheck{}, nil,
			[]string{`case.yaml:5:5: the list of sglang 0.5.10.post1 has no flag quantizaton; did you mean "quantization"?`},
			[]string{"case.yaml:9:27: with pp-size 2 sglang turns the overlap schedule off, in parallel=tp4-pp2"}},
		"strict": {"    quantizaton: modelopt_fp4\n", "  tp-size: [8]\n", "0.5.10.post1", FlagCheck{Strict: true},
			[]string{`case.yaml:5:5: the list of sglang 0.5.10.post1 has no flag quantizaton; did you mean "quantization"?`}, nil, nil},
		"a choice on an axis": {"", "  kv-cache-dtype: [bf16, bf61]\n  tp-size: [4, 8]\n", "0.5.10.post1", FlagCheck{}, nil,
			[]string{`case.yaml:6:26: kv-cache-dtype cannot be "bf61" by the list of sglang 0.5.10.post1, in 2 configurations with kv-cache-dtype=bf61; did you mean "bf16"?`}, nil},
		"too many GPUs by label": {"", sizes + "  max-running-requests: [8, 16, 32]\n", "0.5.10.post1", FlagCheck{GPUs: 4},
			[]string{"case.yaml:7:11: tp-size 8 = 8 GPUs, but there are 4, in 3 configurations with parallel=tp8; lower one of them",
				"case.yaml:8:27: tp-size 4 × pp-size 2 = 8 GPUs, but there are 4, in 3 configurations with parallel=tp4-pp2; lower one of them"}, nil,
			[]string{"case.yaml:8:27: with pp-size 2 sglang turns the overlap schedule off, in 3 configurations with parallel=tp4-pp2"}},
		"a combination of two labels": {"", sizes + "  mixed:\n    a: {}\n    b: {enable-mixed-chunk: true}\n", "0.5.10.post1", FlagCheck{},
			[]string{"case.yaml:11:9: enable-mixed-chunk does not work with pp-size 2, in parallel=tp4-pp2,mixed=b; exclude the combination"}, nil,
			[]string{"case.yaml:8:27: with pp-size 2 sglang turns the overlap schedule off, in 2 configurations with parallel=tp4-pp2"}},
		"A15 a word after a switch, and two versions": {"    enable-metrics: \"True\"\n", "  tp-size: [8]\n", "0.5.11", FlagCheck{}, nil,
			[]string{`case.yaml:5:5: enable-metrics is a switch and takes no word, but is given "True", by the list of sglang 0.5.10.post1 (there is none of 0.5.11); write enable-metrics: true, or leave it out`}, nil},
		"pool": {"", "  max-running-requests: [8, 4096]\n", "0.5.10.post1", FlagCheck{KVTokens: map[string]int{}}, nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			spec, report := checkText(t, flagCase(c.flags, c.matrix), c.version, c.options)
			for _, part := range []struct {
				name string
				got  []Problem
				want []string
			}{{"errors", report.Errors, c.errors}, {"warnings", report.Warnings, c.warnings}, {"notes", report.Notes, c.remark}} {
				got := ProblemTexts(spec.File, part.got)
				if len(got) == 0 {
					got = nil
				}
				if diff := cmp.Diff(part.want, got); diff != "" {
					t.Errorf("%s: %s", part.name, diff)
				}
			}
			if err := report.Err(spec); (err == nil) != (len(c.errors) == 0) {
				t.Error(err)
			}
		})
	}
}

// TestFlagErrorShowsItsLine: an error of the check reads as one of the decoder.
func TestFlagErrorShowsItsLine(t *testing.T) {
	spec, report := checkText(t, flagCase("    mem-fraction-static: 85%\n", "  tp-size: [8]\n"), "0.5.10.post1", FlagCheck{})
	want := "case.yaml:5:5: mem-fraction-static takes a number, not \"85%\"\n    5 |     mem-fraction-static: 85%\n      |     ^"
	if err := report.Err(spec); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// TestCheckPool: the pool of a recorded start bounds the requests.
func TestCheckPool(t *testing.T) {
	spec, err := Decode("case.yaml", []byte(flagCase("", "  max-running-requests: [8, 4096]\n")))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := NewPlan(spec, PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	fs, _ := sglang.Flags("0.5.10.post1")
	report := CheckFlags(plan, fs, FlagCheck{KVTokens: map[string]int{plan.Configurations[0].ID: 314304, plan.Configurations[1].ID: 314304}})
	// 256 in, 128 out, uniform from nothing: 192 tokens in the mean.
	want := []string{"case.yaml:6:29: max-running-requests 4096, but the KV pool of 314304 tokens holds 1637 requests of 192 tokens, in max-running-requests=4096; more than fit wait, or are taken back and computed again"}
	if diff := cmp.Diff(want, ProblemTexts("case.yaml", report.Warnings)); diff != "" {
		t.Error(diff)
	}
}

// TestCommandWordsAreChecked: what stands behind the module is the server's.
func TestCommandWordsAreChecked(t *testing.T) {
	for command, want := range map[string]string{
		"[python3, -m, sglang.launch_server, --enable-metrics=False]": "case.yaml: enable-metrics is a switch and takes no value; write enable-metrics: true, or leave it out",
		"[/opt/venv/bin/sglang, serve, --model-path, m]":              "",
		"[/opt/venv/bin/sglang, serve]":                               "case.yaml: the flag model-path is missing; sglang does not start without it",
		"[./wrapper, --anything]":                                     "",
		"[sweep, sim, --preset, small]":                               "",
	} {
		spec, report := checkText(t, complete("server: {command: "+command+", flags: {tp-size: 64}}\n"), "0.5.10.post1", FlagCheck{})
		got := ProblemTexts(spec.File, report.Errors)
		if strings.Contains(command, "-m, ") {
			got = got[:1] // model-path is missing too
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	_, report := checkText(t, complete("server: {command: [sweep, sim], flags: {tp-size: 64}}\n"), "", FlagCheck{GPUs: 1})
	if len(report.Errors)+len(report.Warnings) > 0 {
		t.Errorf("a simulated server needs no GPU: %v", report)
	}
}

// TestFilesOfSweepsHaveSoundFlags: no file of the project is refused, with any
// version of the lists that knows its model.
func TestFilesOfSweepsHaveSoundFlags(t *testing.T) {
	files, err := filepath.Glob("../../sweeps/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := Decode(file, text)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := NewPlan(spec, PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, version := range []string{"0.5.10.post1", "0.5.17", ""} {
			fs, _ := sglang.Flags(version)
			if err := CheckFlags(plan, fs, FlagCheck{GPUs: 8, SM: 120}).Err(spec); err != nil {
				t.Errorf("%s on %q: %v", file, version, err)
			}
		}
	}
}

// TestCheckFlagsIsQuick: a plan of thousands is judged in well under a second
// on an idle machine; the bound leaves room for a busy one.
func TestCheckFlagsIsQuick(t *testing.T) {
	text := complete("server:\n  command: [python3, -m, sglang.launch_server]\n  flags: {model-path: m, tp-size: 8}\n" +
		"matrix:\n  max-running-requests: [" + numbers(2000) + "]\n  parallel: {a: {}, b: {enable-metrics: true}}\n")
	spec, err := Decode("case.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := NewPlan(spec, PlanOptions{MaxConfigs: 5000})
	if err != nil {
		t.Fatal(err)
	}
	fs, _ := sglang.Flags("0.5.10.post1")
	began := time.Now()
	CheckFlags(plan, fs, FlagCheck{GPUs: 4})
	InertGroups(plan, fs)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("%d configurations took %s", len(plan.Configurations), took)
	} else {
		t.Logf("%d configurations took %s", len(plan.Configurations), took)
	}
}

func numbers(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprint(i + 1)
	}
	return strings.Join(words, ", ")
}

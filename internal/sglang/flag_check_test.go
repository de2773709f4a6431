package sglang

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func word(name string, words ...string) Given {
	kind := GivenWord
	if len(words) != 1 {
		kind = GivenWords
	}
	return Given{Name: name, Kind: kind, Words: words}
}

func on(name string) Given { return Given{Name: name, Kind: GivenSwitch} }

func off(name string) Given { return Given{Name: name, Kind: GivenOff} }

// lines writes problems shortly: grade, code, message, hint.
func problemLines(problems []FlagProblem) []string {
	lines := []string{}
	for _, p := range problems {
		line := string(p.Grade) + " " + p.Code + ": " + p.Message
		if p.Hint != "" {
			line += " | " + p.Hint
		}
		lines = append(lines, line)
	}
	return lines
}

func TestCheckFlag(t *testing.T) {
	const old, now = "0.5.10.post1", "0.5.17"
	for name, c := range map[string]struct {
		version string
		given   Given
		want    []string
	}{
		"good":             {old, word("tp-size", "8"), nil},
		"left out":         {old, Given{Name: "nope", Kind: GivenOmit}, nil},
		"several words":    {old, word("cuda-graph-bs", "1", "2", "4"), nil},
		"negative":         {old, word("chunked-prefill-size", "-1"), nil},
		"human":            {old, word("context-length", "128k"), nil},
		"abbreviation":     {old, word("tp", "8"), []string{"warning abbreviated-flag: the flag tp is short for tp-size | write it in full: the next version may have another flag that begins like it"}},
		"alias":            {old, word("tensor-parallel-size", "8"), []string{"note alias: tensor-parallel-size is another name of tp-size"}},
		"ambiguous":        {old, word("pp", "2"), []string{"error ambiguous-flag: the flag pp is ambiguous | write pp-size, pp-max-micro-batch-size or pp-async-batch-depth"}},
		"unknown":          {old, word("max-running-request-count", "8"), []string{"warning unknown-flag: the list of sglang 0.5.10.post1 has no flag max-running-request-count"}},
		"of a fork":        {old, on("enable-pcie-oneshot-allreduce"), []string{"warning unknown-flag: the list of sglang 0.5.10.post1 has no flag enable-pcie-oneshot-allreduce"}},
		"later":            {old, word("bf16-gemm-backend", "auto"), []string{"warning unknown-flag: the list of sglang 0.5.10.post1 has no flag bf16-gemm-backend | the list of sglang 0.5.16 is the first that has it"}},
		"earlier":          {now, word("hybrid-kvcache-ratio", "1"), []string{"warning unknown-flag: the list of sglang 0.5.17 has no flag hybrid-kvcache-ratio | the list of sglang 0.5.12.post1 is the last that has it"}},
		"renamed later":    {old, word("dsa-decode-backend", "fa3"), []string{"warning unknown-flag: the list of sglang 0.5.10.post1 has no flag dsa-decode-backend | this version calls it nsa-decode-backend"}},
		"renamed before":   {old, word("nsa-decode", "fa3"), nil},
		"turned round":     {old, on("enable-flashinfer-autotune"), []string{"warning unknown-flag: the list of sglang 0.5.10.post1 has no flag enable-flashinfer-autotune | write disable-flashinfer-autotune (the meaning turned round: on unless disabled)"}},
		"turned back":      {"0.5.6.post2", on("disable-flashinfer-autotune"), []string{"warning unknown-flag: the list of sglang 0.5.6.post2 has no flag disable-flashinfer-autotune | this version calls it enable-flashinfer-autotune (later the meaning turned round: on unless disabled)"}},
		"deprecated":       {now, word("cuda-graph-max-bs", "256"), []string{"warning deprecated-flag: cuda-graph-max-bs is deprecated in the list of sglang 0.5.17 | write cuda-graph-max-bs-decode"}},
		"deprecated nsa":   {now, word("nsa-decode-backend", "fa3"), []string{"warning deprecated-flag: nsa-decode-backend is deprecated in the list of sglang 0.5.17 | write dsa-decode-backend"}},
		"deprecated where": {"", word("cuda-graph-max-bs", "256"), []string{"note deprecated-flag: in sglang 0.5.17, whose list is used because the installed version is not known: cuda-graph-max-bs is deprecated | write cuda-graph-max-bs-decode"}},
		"ignored":          {old, on("enable-piecewise-cuda-graph"), []string{"warning deprecated-flag: enable-piecewise-cuda-graph does nothing any more in the list of sglang 0.5.10.post1 | remove it"}},
		"piecewise":        {now, on("enable-piecewise-cuda-graph"), []string{"warning unknown-flag: the list of sglang 0.5.17 has no flag enable-piecewise-cuda-graph | write cuda-graph-backend-prefill: tc_piecewise (from 0.5.10 on it is on by default)"}},
		"choice":           {old, word("kv-cache-dtype", "fp8"), []string{`warning bad-choice: kv-cache-dtype cannot be "fp8" by the list of sglang 0.5.10.post1 | write auto, fp8_e5m2, fp8_e4m3, bf16, bfloat16 or fp4_e2m1`}},
		"later choice":     {old, word("kv-cache-dtype", "nvfp4"), []string{`warning bad-choice: kv-cache-dtype cannot be "nvfp4" by the list of sglang 0.5.10.post1 | the list of sglang 0.5.16 is the first that has "nvfp4"`}},
		"removed choice":   {now, word("fp4-gemm-backend", "cutlass"), []string{`warning bad-choice: fp4-gemm-backend cannot be "cutlass" by the list of sglang 0.5.17 | the list of sglang 0.5.14 is the last that has "cutlass"`}},
		"choice of fork":   {old, word("moe-runner-backend", "b12x"), []string{`warning bad-choice: moe-runner-backend cannot be "b12x" by the list of sglang 0.5.10.post1 | write auto, deep_gemm, triton, triton_kernel, flashinfer_trtllm or flashinfer_trtllm_routed (and 4 more)`}},
		"number choice":    {old, word("log-requests-level", "02"), nil},
		"no int":           {old, word("tp-size", "eight"), []string{`error bad-value: tp-size takes a whole number, not "eight"`}},
		"float for int":    {old, word("max-running-requests", "1e3"), []string{`error bad-value: max-running-requests takes a whole number, not "1e3"`}},
		"no float":         {old, word("mem-fraction-static", "85%"), []string{`error bad-value: mem-fraction-static takes a number, not "85%"`}},
		"no human":         {old, word("context-length", "128K"), []string{`error bad-value: context-length takes a whole number (8192, 128k, 64Ki), not "128K"`}},
		"human too early":  {"0.5.9", word("context-length", "128k"), []string{`error bad-value: context-length takes a whole number, not "128k"`}},
		"JSON":             {old, word("mm-process-config", "{a: 1}"), []string{`error bad-value: mm-process-config takes JSON, not "{a: 1}"`}},
		"JSON read later":  {old, word("model-loader-extra-config", "{a: 1}"), []string{`error bad-value: model-loader-extra-config takes JSON, but "{a: 1}" is none | write a map: sweep makes one word of JSON of it`}},
		"JSON map":         {old, Given{Name: "model-loader-extra-config", Kind: GivenJSON, Words: []string{`{"num_threads":16}`}}, nil},
		"graph config":     {now, word("cuda-graph-config", `{"encode": {}}`), []string{`error bad-value: cuda-graph-config takes JSON like {"decode": {…}, "prefill": {…}}, not "{"encode": {}}"`}},
		"no words":         {old, word("cuda-graph-bs"), []string{"error no-word: cuda-graph-bs needs a whole number | write cuda-graph-bs: […, …]"}},
		"none of any":      {old, word("lora-paths"), nil},
		"two for one":      {old, word("tp-size", "4", "8"), []string{"error too-many-words: tp-size takes a whole number, but is given 2 words | write tp-size: …"}},
		"true for a word":  {old, on("kv-cache-dtype"), []string{"error no-word: kv-cache-dtype needs a word | it is no switch: write kv-cache-dtype: auto"}},
		"optional word":    {old, on("model-checksum"), nil},
		"dash word":        {old, word("served-model-name", "-glm"), []string{`error flag-in-value: the server takes the word "-glm" of served-model-name for a flag | a value cannot begin with a dash, unless it is a number or has a space`}},
		"dash and space":   {old, word("served-model-name", "-g l m"), nil},
		"smuggled":         {old, word("cuda-graph-bs", "1", "--enable-metrics"), []string{`error flag-in-value: the server takes the word "--enable-metrics" of cuda-graph-bs for the flag enable-metrics | set enable-metrics under a key of its own`}},
		"smuggled alone":   {old, word("tp-size", "--port=1"), []string{`error flag-in-value: the server takes the word "--port=1" of tp-size for a flag | a value cannot begin with a dash, unless it is a number or has a space`}},
		"two dashes":       {old, word("tp-size", "--"), []string{`error flag-in-value: the server takes the word "--" of tp-size for a flag | a value cannot begin with a dash, unless it is a number or has a space`, "error flag-in-value: the word -- ends the flags of a command line | remove it"}},
		"help":             {old, on("help"), []string{"error help: with --help the server prints its help and ends | remove it"}},
		"control":          {old, on("x\x1b[31m"), []string{"warning unknown-flag: the list of sglang 0.5.10.post1 has no flag x"}},
		"command":          {old, Given{Words: []string{"--tp=8", "--enable-metrics"}}, nil},
		"stray in command": {old, Given{Words: []string{"serve"}}, []string{`error too-many-words: the server takes no word "serve" here | remove it`}},
		"inline and more":  {old, Given{Words: []string{"--tp-size=8", "x"}}, []string{`error too-many-words: the server takes no word "x" here | remove it`}},
		"off on a toggle":  {now, off("dllm-fdfo"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			fs, _ := Flags(c.version)
			got := problemLines(fs.CheckFlag(c.given, false))
			if name == "command" {
				got = nil // an abbreviation may be warned of
			}
			if name == "renamed before" {
				if len(got) != 1 || !strings.Contains(got[0], "short for nsa-decode-backend") {
					t.Error(got)
				}
				return
			}
			if len(got) == 0 {
				got = nil
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestD01AWordAfterASwitch: "--flag True" is a stray word to argparse.
func TestD01AWordAfterASwitch(t *testing.T) {
	for _, version := range Versions() {
		fs, _ := Flags(version)
		for _, w := range []string{"True", "true", "1", ""} {
			problems := fs.CheckFlag(word("enable-metrics", w), false)
			if len(problems) != 1 || problems[0].Code != FlagAloneWord || !problems[0].Refused || problems[0].Grade != GradeError || problems[0].Hint != "write enable-metrics: true, or leave it out" {
				t.Errorf("%s: %q: %+v", version, w, problems)
			}
		}
	}
}

// TestD02FalseIsNeverTheBareFlag: left out it is absent from what the server
// is given, by Check and by Settings.
func TestD02FalseIsNeverTheBareFlag(t *testing.T) {
	fs, _ := Flags("0.5.10.post1")
	g := Given{Name: "disable-cuda-graph", Kind: GivenOmit}
	if problems := fs.CheckFlag(g, true); problems != nil {
		t.Error(problems)
	}
	if s := fs.Settings([]Given{g}, nil); s.has("disable-cuda-graph") {
		t.Error(s)
	}
	now, _ := Flags("0.5.17")
	if s := now.Settings([]Given{off("dllm-fdfo")}, nil); s.word("dllm-fdfo", "") != "False" {
		t.Error(s)
	}
	if s := now.Settings([]Given{on("dllm-fdfo")}, nil); s.word("dllm-fdfo", "") != "True" {
		t.Error(s)
	}
}

// TestD03OffThatCannotBeSaid: off is refused where a flag has no off form.
func TestD03OffThatCannotBeSaid(t *testing.T) {
	for _, c := range []struct{ version, name, want string }{
		{"0.5.10.post1", "enable-metrics", "error no-off-form: enable-metrics is a switch without an off form | leave it out"},
		{"0.5.10.post1", "max-running-requests", "error no-off-form: max-running-requests takes a whole number and cannot be turned off | leave it out"},
		{"0.5.10.post1", "lora-strict-loading", "warning unknown-flag: the list of sglang 0.5.10.post1 has no flag no-lora-strict-loading"},
		{"0.5.12.post1", "lora-strict-loading", ""},
		{"0.5.12.post1", "record-nolora-graph", ""},
		{"0.5.14", "record-nolora-graph", "warning unknown-flag: the list of sglang 0.5.14 has no flag no-record-nolora-graph"},
	} {
		fs, _ := Flags(c.version)
		if got := strings.Join(problemLines(fs.CheckFlag(off(c.name), false)), "\n"); got != c.want {
			t.Errorf("%s on %s:\n%s\n%s", c.name, c.version, got, c.want)
		}
	}
}

// TestD04FalseBehindAnEqualsSign: --flag=False on a switch is refused.
func TestD04FalseBehindAnEqualsSign(t *testing.T) {
	fs, _ := Flags("0.5.10.post1")
	want := []string{"error word-on-switch: enable-metrics is a switch and takes no value | write enable-metrics: true, or leave it out"}
	if diff := cmp.Diff(want, problemLines(fs.CheckFlag(Given{Words: []string{"--enable-metrics=False"}}, false))); diff != "" {
		t.Error(diff)
	}
}

func TestGrades(t *testing.T) {
	exact, _ := Flags("0.5.10.post1")
	near, _ := Flags("0.5.11")
	any, _ := Flags("")
	installed, err := ParseFlagDump([]byte(`{"sglang":"0.5.10.post1","flags":[{"names":["--model-path"],"action":"_StoreAction","required":true},{"names":["--kv-cache-dtype"],"action":"_StoreAction","choices":["auto"]},{"names":["--tp-size"],"action":"_StoreAction","type":"int"},{"names":["--strange"],"action":"_StoreAction","type":"bool"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fs     *FlagSet
		strict bool
		given  Given
		want   Grade
	}{
		{exact, false, on("b12x"), GradeWarning}, {exact, true, on("b12x"), GradeError}, {installed, false, on("b12x"), GradeError},
		{near, false, on("b12x"), GradeWarning}, {any, false, on("b12x"), GradeWarning}, {any, true, on("b12x"), GradeError},
		{exact, false, word("kv-cache-dtype", "x"), GradeWarning}, {exact, true, word("kv-cache-dtype", "x"), GradeError}, {installed, false, word("kv-cache-dtype", "x"), GradeError},
		{exact, false, word("tp-size", "x"), GradeError}, {near, false, word("tp-size", "x"), GradeWarning}, {installed, false, word("tp-size", "x"), GradeError},
		{near, false, on("enable-piecewise-cuda-graph"), GradeWarning}, {any, false, on("disable-cuda-graph"), GradeNote},
		{installed, false, word("strange", "False"), GradeWarning},
	} {
		problems := c.fs.CheckFlag(c.given, c.strict)
		if len(problems) != 1 || problems[0].Grade != c.want {
			t.Errorf("%s, strict %t, %v: %v, want %s", c.fs.Source(), c.strict, c.given, problemLines(problems), c.want)
		}
	}
	if problems := any.CheckFlag(on("b12x"), false); problems[0].Message != "the list of sglang 0.5.17 (which version is installed is not known) has no flag b12x" {
		t.Error(problems[0].Message)
	}
	if problems := near.CheckFlag(word("tp-size", "x"), false); problems[0].Message != `tp-size takes a whole number, not "x", by the list of sglang 0.5.10.post1 (there is none of 0.5.11)` {
		t.Error(problems[0].Message)
	}
	problems := exact.Check([]Given{word("tp-size", "8"), word("dp-size", "x")}, false)
	if diff := cmp.Diff([]string{`error bad-value: dp-size takes a whole number, not "x"`, "error missing-flag: the flag model-path is missing | sglang does not start without it"}, problemLines(problems)); diff != "" {
		t.Error(diff)
	}
	if problems[0].Index != 1 || problems[1].Index != -1 {
		t.Errorf("indexes %d and %d", problems[0].Index, problems[1].Index)
	}
	if problems := exact.Check([]Given{word("config", "x.yaml")}, false); problems != nil {
		t.Error(problems)
	}
}

package sweep

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// flagWords are the words that the flags of one server become, without the
// command in front and host and port behind.
func flagWords(t *testing.T, flags string) []string {
	t.Helper()
	plan, err := decodeAndPlan("case.yaml", complete("server:\n  command: [launch]\n  flags: {"+flags+"}\n"))
	if err != nil {
		t.Fatalf("%s: %v", flags, err)
	}
	return between(t, plan.Runs[0].Argv)
}

func between(t *testing.T, argv []string) []string {
	t.Helper()
	if argv[0] != "launch" || len(argv) < 5 {
		t.Fatalf("argv %q", argv)
	}
	want := []string{"--host", "127.0.0.1", "--port", "30000"}
	if diff := cmp.Diff(want, argv[len(argv)-4:]); diff != "" {
		t.Fatal(diff)
	}
	return argv[1 : len(argv)-4]
}

// TestD01SwitchHasNoWord: a swept boolean is the bare flag or nothing, never a
// word behind a switch.
func TestD01SwitchHasNoWord(t *testing.T) {
	plan, err := decodeAndPlan("case.yaml", complete("server: {command: [launch]}\nmatrix:\n  enable-dp-attention: [true, false]\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"launch", "--enable-dp-attention", "--host", "127.0.0.1", "--port", "30000"},
		{"launch", "--host", "127.0.0.1", "--port", "30001"},
	}
	for i, r := range plan.Runs {
		if diff := cmp.Diff(want[i], r.Argv); diff != "" {
			t.Errorf("run %d: %s", i+1, diff)
		}
	}
}

// TestD02FalseIsNeverTheBareFlag goes through every spelling of off.
func TestD02FalseIsNeverTheBareFlag(t *testing.T) {
	for _, off := range []string{"false", "False", "FALSE", "null", "~", ""} {
		if got := flagWords(t, "enforce-eager: "+off); len(got) != 0 {
			t.Errorf("%q became %q, want nothing", off, got)
		}
	}
}

// TestD03OffThatCannotBeSaidIsRefused: where off has a --no- twin it is
// written, and where a feature has no flag of its name, false is an error and
// not silence.
func TestD03OffThatCannotBeSaidIsRefused(t *testing.T) {
	if diff := cmp.Diff([]string{"--no-lora-strict-loading"}, flagWords(t, "lora-strict-loading: false")); diff != "" {
		t.Error(diff)
	}
	for _, feature := range []string{"radix-cache", "cuda-graph", "overlap-schedule", "custom-all-reduce"} {
		_, err := decodeAndPlan("case.yaml", complete("server:\n  command: [launch]\n  flags: {"+feature+": false}\n"))
		if err == nil || !strings.Contains(err.Error(), "write disable-"+feature+": true") {
			t.Errorf("%s: got %v", feature, err)
		}
	}
}

// TestD04FalseIsNoWord: --flag=False and --flag false make argparse refuse a
// switch.
func TestD04FalseIsNoWord(t *testing.T) {
	got := flagWords(t, "a: false, b: true, c: x, d: False")
	if diff := cmp.Diff([]string{"--b", "--c", "x"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestD06WordsArriveByteForByte runs the printed command in a real shell and a
// real argv list through a real exec, and compares what arrives.
func TestD06WordsArriveByteForByte(t *testing.T) {
	text := complete(`server:
  command: [printf, '%s\0']
  flags:
    json-model-override-args: {rope_scaling: {factor: 2.0}, "it's": "$HOME \"x\""}
    model-loader-extra-config: {enable_multithread_load: true, num_threads: 16}
    spaces: " a  b "
    dollar: $HOME ` + "`id`" + `
    quotes: "'\"'"
    newline: "a\nb\n"
    empty: ""
    dash: -x
    control: "\e[31m\x01\t\\"
    unicode: "ünï \u202e \U0001f319"
`)
	plan, err := decodeAndPlan("case.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	argv := plan.Runs[0].Argv
	want := []string{
		"--json-model-override-args", `{"rope_scaling":{"factor":2.0},"it's":"$HOME \"x\""}`,
		"--model-loader-extra-config", `{"enable_multithread_load":true,"num_threads":16}`,
		"--spaces", " a  b ", "--dollar", "$HOME `id`", "--quotes", `'"'`, "--newline", "a\nb\n",
		"--empty", "", "--dash", "-x", "--control", "\x1b[31m\x01\t\\", "--unicode", "ünï \u202e \U0001f319",
		"--host", "127.0.0.1", "--port", "30000",
	}
	if diff := cmp.Diff(want, argv[2:]); diff != "" {
		t.Fatal(diff)
	}
	arrived := func(name string, args ...string) []string {
		out, err := exec.CommandContext(t.Context(), name, args...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	}
	if diff := cmp.Diff(want, arrived(argv[0], argv[1:]...)); diff != "" {
		t.Errorf("by exec: %s", diff)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash: the pasted command is not tried")
	}
	line := plan.Configurations[0].Shell(argv)
	for _, r := range line {
		if r < ' ' || r == '\u202e' {
			t.Fatalf("the printed command holds %U", r)
		}
	}
	if diff := cmp.Diff(want, arrived(bash, "-c", line)); diff != "" {
		t.Errorf("by bash: %s", diff)
	}
}

// TestShellEnvironment: variables and what is unset reach a real shell's child.
func TestShellEnvironment(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	plan, err := decodeAndPlan("case.yaml", complete(`server:
  command: [bash, -c, 'echo "[$A] [${GONE-unset}]"']
  env: {A: "it's $HOME", GONE: null}
`))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bash, "-c", plan.Configurations[0].Shell(plan.Runs[0].Argv))
	cmd.Env = []string{"GONE=here", "PATH=/usr/bin:/bin"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := string(out); got != "[it's $HOME] [unset]\n" {
		t.Errorf("got %q", got)
	}
	c := plan.Configurations[0]
	if diff := cmp.Diff([]string{"A=it's $HOME"}, c.Environ()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"GONE"}, c.Unset()); diff != "" {
		t.Error(diff)
	}
}

// TestContainerListens: in a container the load comes from outside.
func TestContainerListens(t *testing.T) {
	c := Configuration{Command: []string{"a"}, Container: Container{Runtime: "incus", Instance: "glm5"}}
	if diff := cmp.Diff([]string{"a", "--host", "0.0.0.0", "--port", "8000"}, c.Argv(8000)); diff != "" {
		t.Error(diff)
	}
}

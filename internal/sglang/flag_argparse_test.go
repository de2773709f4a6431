package sglang

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updateVerdicts = flag.Bool("update-argparse", false, "record the verdicts of Python's argparse")

// linesPerVersion is how many command lines are made for each version.
const linesPerVersion = 250

// argparseVersions are the Pythons whose rules Check follows: those that
// sglang's images have. Newer ones take more for a negative number.
var argparseVersions = []string{"3.9", "3.10", "3.11", "3.12"}

// verdicts is what argparse said of a version's command lines: 1 accepted, 0
// refused. The hash is of the lines, so that a change of the generator shows.
type verdicts struct {
	Lines    string `json:"lines"`
	Verdicts string `json:"verdicts"`
}

// TestArgparseAgrees: for every version, a parser that Python's argparse builds
// from its list accepts and refuses the same command lines as Check. Without
// Python the recorded verdicts stand in for it.
func TestArgparseAgrees(t *testing.T) {
	const golden = "testdata/flags/argparse.json"
	type job struct {
		Flags []Flag     `json:"flags"`
		Lines [][]string `json:"lines"`
	}
	jobs, lines, recorded := map[string]job{}, map[string][][]Given{}, map[string]verdicts{}
	for i, version := range Versions() {
		fs, _ := Flags(version)
		r := rand.New(rand.NewPCG(20261201, uint64(i)))
		j := job{Flags: fs.Flags}
		for range linesPerVersion {
			given := commandLine(r, fs)
			lines[version] = append(lines[version], given)
			j.Lines = append(j.Lines, argv(given))
		}
		jobs[version] = j
	}
	if data, err := os.ReadFile(golden); err == nil {
		if err := json.Unmarshal(data, &recorded); err != nil {
			t.Fatal(err)
		}
	}
	said := map[string]string{}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Log("no python3: the recorded verdicts are used")
	} else {
		input, _ := json.Marshal(jobs)
		cmd := exec.CommandContext(t.Context(), python, "testdata/flags/rebuild.py")
		cmd.Stdin, cmd.Stderr = bytes.NewReader(input), os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &said); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(argparseVersions, said["python"]) {
			t.Logf("Python %s reads some words otherwise: the recorded verdicts are used", said["python"])
			clear(said)
		}
	}
	for _, version := range Versions() {
		made, _ := json.Marshal(jobs[version].Lines)
		sum := sha256.Sum256(made)
		hash := hex.EncodeToString(sum[:8])
		if said[version] == "" {
			said[version] = recorded[version].Verdicts
		}
		now := verdicts{hash, said[version]}
		if *updateVerdicts {
			recorded[version] = now
		} else if diff := cmp.Diff(now, recorded[version]); diff != "" {
			t.Errorf("%s: the recorded verdicts are not those of argparse (-update-argparse records them): %s", version, diff)
		}
		fs, _ := Flags(version)
		accepted := 0
		for i, given := range lines[version] {
			refused := slices.ContainsFunc(fs.Check(given, false), func(p FlagProblem) bool { return p.Refused })
			want := i < len(said[version]) && said[version][i] == '1'
			if want {
				accepted++
			}
			if refused == want {
				t.Errorf("%s: argparse accepts %t, Check refuses %t: %q", version, want, refused, jobs[version].Lines[i])
			}
		}
		if accepted < linesPerVersion/5 || accepted > linesPerVersion*4/5 {
			t.Errorf("%s: %d of %d lines are accepted: the generator proves little", version, accepted, linesPerVersion)
		}
	}
	if *updateVerdicts {
		data, _ := json.MarshalIndent(recorded, "", " ")
		if err := os.WriteFile(golden, append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// argv writes flags as a plan does.
func argv(given []Given) []string {
	words := []string{}
	for _, g := range given {
		switch {
		case g.Kind == GivenOmit:
			continue
		case g.Name == "":
		case g.Kind == GivenOff:
			words = append(words, "--no-"+g.Name)
			continue
		default:
			words = append(words, "--"+g.Name)
		}
		words = append(words, g.Words...)
	}
	return words
}

// commandLine makes one command line, right or wrong in every way there is.
func commandLine(r *rand.Rand, fs *FlagSet) []Given {
	var given []Given
	if r.IntN(12) > 0 {
		given = append(given, Given{Name: pick(r, "model-path", "model-path", "model", "model-pa"), Kind: GivenWord, Words: []string{"zai-org/GLM-5"}})
	}
	for range 1 + r.IntN(3) {
		given = append(given, oneFlag(r, fs))
	}
	if r.IntN(20) == 0 { // words of the command itself come first
		given = append([]Given{{Kind: GivenWords, Words: []string{pick(r, "--tp-size=4", "--tp-size=x", "stray", "--enable-metrics=False", "--cuda-graph-bs=1",
			"--tp-s=2", "-1", "-h", "-hx", "--", "--dtype=half", "--enable-metrics")}}}, given...)
	}
	return given
}

func oneFlag(r *rand.Rand, fs *FlagSet) Given {
	f := &fs.Flags[r.IntN(len(fs.Flags))]
	if f.Name() == "config" { // its file may bring the required flag, which argparse itself does not know
		f = fs.Lookup("tp-size")
	}
	if r.IntN(4) == 0 { // the flags that have surprises
		name := pick(r, "tp-size", "cuda-graph-bs", "cuda-graph-max-bs", "context-length", "mm-process-config", "forward-hooks", "log-requests-level",
			"lora-paths", "lora-target-modules", "model-checksum", "mem-fraction-static", "experts-shared-outer-loras", "chunked-prefill-size",
			"max-total-tokens", "cuda-graph-config", "json-model-override-args")
		if known := fs.Lookup(name); known != nil {
			f = known
		}
	}
	g := Given{Name: f.Name()}
	switch r.IntN(13) {
	case 0:
		g.Name = f.Names[r.IntN(len(f.Names))]
		g.Name = strings.TrimLeft(g.Name, "-")
	case 1, 2:
		g.Name = g.Name[:1+r.IntN(len(g.Name))]
	case 3:
		g.Name = pick(r, strings.ReplaceAll(g.Name, "-", "_"), g.Name+"x", "pp", "tp", "ep", "dp", "quant", "enable-pcie-oneshot-allreduce", "h")
	case 4:
		if r.IntN(3) == 0 || f.Kind == FlagToggle {
			g.Kind = GivenOff
			return g
		}
	}
	switch {
	case f.Alone() && r.IntN(6) > 0:
		g.Kind = GivenSwitch
	case f.Alone():
		g.Kind, g.Words = GivenWord, []string{pick(r, "True", "false", "1", "")}
	case r.IntN(12) == 0:
		g.Kind = GivenSwitch
	case f.Kind == FlagWords || r.IntN(15) == 0:
		g.Kind = GivenWords
		for range r.IntN(4) {
			g.Words = append(g.Words, oneWord(r, f))
		}
	default:
		g.Kind, g.Words = GivenWord, []string{oneWord(r, f)}
	}
	return g
}

func oneWord(r *rand.Rand, f *Flag) string {
	if r.IntN(5) > 0 {
		if len(f.Choices) > 0 {
			return f.Choices[r.IntN(len(f.Choices))]
		}
		switch f.Type {
		case TypeInt:
			return pick(r, "1", "8", "-1", "08", "+3", "1_000", " 5 ", "٣")
		case TypeFloat:
			return pick(r, "0.85", "1e3", ".5", "-1", "-0.5", "1.", "inf", "NaN", "1_0.5", "-.5")
		case TypeHuman:
			return pick(r, "128k", "64Ki", "25.6k", "8192", "1M", "1T", "-1")
		case TypeJSON, TypeList:
			return pick(r, "{}", `{"a": [1, null]}`, "[]", `"x"`, "1")
		case TypeGraph:
			return pick(r, "{}", `{"decode": {"backend": "full"}}`, `{"prefill": {}, "decode": {}}`)
		}
	}
	return pick(r, "", "x", "a b", "-x", "-x y", "--", "-", "-1", "-0.5", "-1e3", "--tp-size", "--enable-metrics", "--nope", "--tp-size=4", "1.5", "1e3", "0x10",
		"true", "8", "1__0", "_1", "128K", "1.5Ki", "128kB", "{", "{'a': 1}", "NaN", `{"a": NaN}`, `{"a": -Infinity}`, `[1,]`, "null", `{"decode": 1}`, `{"x": {}}`, "-h", "-h x", "é")
}

func pick(r *rand.Rand, words ...string) string { return words[r.IntN(len(words))] }

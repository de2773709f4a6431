package sweep

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestHostileFiles: bytes that no case file can hold. Each is refused with one
// clear sentence at its place, in well under a second and little memory.
func TestHostileFiles(t *testing.T) {
	bomb := "server:\n  command: [a]\n  flags:\n    json-model-override-args:\n      a0: &a0 {x: lol}\n"
	for i := 1; i < 30; i++ {
		bomb += fmt.Sprintf("      a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1)
	}
	long := strings.Repeat("x", 100_000)
	for name, c := range map[string]struct{ text, want string }{
		"empty":              {"", "f:1:1: the file is empty"},
		"blank":              {"\n\n  \n", "f:1:1: the file is empty"},
		"comment":            {"# nothing\n", "f:1:1: the file is empty"},
		"empty document":     {"---\n", "f:1:1: the file is empty"},
		"two empty":          {"---\n---\n", "f:1:1: the file is empty"},
		"null":               {"~\n", "f:1:1: the sweep file must be a map, not nothing"},
		"binary":             {"\x7fELF\x02\x01\x01\x00", "f:1:1: a control character (U+007F)"},
		"nul":                {"name: x\n\x00", "f:2:1: a control character (U+0000)"},
		"escape":             {"name: \x1b[31m", "f:1:7: a control character (U+001B)"},
		"not utf-8":          {"name: x\ndescription: caf\xe9\n", "f:2:17: this is not UTF-8 text"},
		"utf-16":             {"\xff\xfen\x00a\x00", "f:1:1: this is not UTF-8 text"},
		"lone CR":            {"name: x\rhost: y\n", "f:1:8: a control character (U+000D)"},
		"line separator":     {"name: x\u2028host: y\n", "f:1:8: a control character (U+2028)"},
		"BOM inside":         {"name: x\ufeff\n", "f:1:8: a control character (U+FEFF)"},
		"too large":          {"# " + strings.Repeat("x", MaxFile), "f: the file is larger than 524288 bytes"},
		"alias bomb":         {complete(bomb), "f:5:11: the aliases of this file multiply it beyond all bounds"},
		"long alias":         {complete("server:\n  command: [&a " + long + strings.Repeat(", *a", 2000) + "]\n"), "f:2:13: the aliases of this file multiply it beyond all bounds"},
		"deep flow":          {"name: " + strings.Repeat("[", MaxFile-100), "f:1:1: the file is nested too deep"},
		"deep block":         {strings.Repeat("- ", MaxFile/2-100), "f:1:1: the file is nested too deep"},
		"deep value":         {complete("server: {command: [a], flags: {x: " + strings.Repeat("{a: ", 5000) + "b" + strings.Repeat("}", 5000) + "}}\n"), "f:1:167: the flag x is nested deeper than 32"},
		"many keys":          {strings.Repeat("? a\n", MaxFile/4-100), "f:2:3: \"a\" is here a second time; the first is on line 1"},
		"many unknown keys":  {manyKeys(), "f:1:1: unknown key \"k0\" in the sweep file"},
		"many list items":    {complete("exclude: [" + strings.Repeat("a,", MaxFile/2-500) + "]\n"), "f:1:11: a rule of exclude must be a map"},
		"many flow keys":     {complete("matrix: {" + strings.Repeat("a,", MaxFile/2-500) + "}\n"), "f:1:12: \"a\" is here a second time"},
		"huge value":         {complete("repeats: " + long + "\n"), "f:1:10: repeats must be a whole number, not the text \"xxx"},
		"huge number":        {complete("repeats: " + strings.Repeat("9", 100_000) + "\n"), "f:1:10: repeats must be between 1 and 1000, not 999"},
		"many axes":          {complete(manyAxes(33, 1)), "f:34:3: a matrix has at most 32 axes, this one has 33"},
		"product overflows":  {complete(manyAxes(32, 100)), "f:2:3: the axes multiply to more than a quadrillion combinations, more than 1000000"},
		"many levels":        {complete("bench:\n  workloads: {w: {input-len: 1, output-len: 1}}\n  levels:\n" + manyLevels(1001)), "f:1004:7: these are more than 1000 levels"},
		"many rules":         {complete("matrix: {a: [x, y]}\nexclude:\n" + strings.Repeat("  - {a: x}\n", 1001)), "f:1003:5: exclude has 1001 items, more than 1000"},
		"many conditions":    {complete("matrix: {a: [x, y]}\nexclude: [" + strings.Repeat("{when: 'axis.a == \"z\" or axis.a contains \"y\"'}, ", 1000) + "]\n"), `f:2:29: when compares with "z", which is no value of the axis "a"`},
		"deep condition":     {complete("matrix: {a: [x, y]}\nexclude: [{when: '" + strings.Repeat("(", 4000) + "'}]\n"), "f:2:4018: when ends in the middle of an expression"},
		"long condition":     {complete("matrix: {a: [x, y]}\nexclude: [{when: '" + strings.Repeat("(", 300_000) + "'}]\n"), "f:2:19: when is 300000 characters long, more than 4096"},
		"costly conditions":  {complete(manyAxes(5, 15) + "exclude:\n" + strings.Repeat("  - when: 'axis.a0 + axis.a1 + axis.a2 + axis.a3 + axis.a4 contains \"99\"'\n", 200)), "f:10:5: the conditions take more than 20000000 steps to judge"},
		"range in condition": {complete("matrix: {a: [x, y]}\nexclude: [{when: '1 in 1..1000000000'}]\n"), "f:2:25: when cannot use .."},
		"many secrets":       {complete("server: {command: [a], secrets: [" + strings.Repeat("A,", MaxFile/2-500) + "]}\n"), "f:1:36: the secret A is here twice"},
		"many devices":       {complete("container: {runtime: process, devices: {" + strings.Repeat("a: {},", MaxFile/6-500) + "}}\n"), "f:1:47: \"a\" is here a second time"},
		"many goals":         {complete("goals: [" + strings.Repeat("{metric: goodput, min: 1},", 101) + "]\n"), "f:1:2609: these are more than 100 goals"},
		"secret alias bomb":  {complete("x: &a [" + strings.Repeat("A,", 1000) + "]\nhooks: {before-run: [&b [*a, *a, *a], *b]}\n"), `f:1:1: unknown key "x" in the sweep file`},
		"bidirectional text": {complete("name: \"a\u202eb\"\n"), `f:1:7: the name of the sweep cannot be "a\u202eb"`},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := decodeAndPlan("f", c.text)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			var bad *FileError
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want a *FileError", err)
			}
			if got := err.Error(); !strings.HasPrefix(got, c.want) {
				t.Errorf("got  %.300s\nwant %s", got, c.want)
			}
			if n := len(err.Error()); n > 20_000 {
				t.Errorf("the message has %d bytes", n)
			}
			if i := strings.IndexFunc(err.Error(), func(r rune) bool { return r < ' ' && r != '\n' || r == '\u202e' }); i >= 0 {
				t.Errorf("the message holds %q", err.Error()[i:i+1])
			}
			if took > 30*time.Second { // half a second, with room for the race detector on a crowded machine
				t.Errorf("took %s", took)
			}
			if used := (after.TotalAlloc - before.TotalAlloc) / 1e6; used > 200 {
				t.Errorf("allocated %d MB", used)
			}
		})
	}
}

func manyKeys() string {
	var b strings.Builder
	for i := 0; b.Len() < MaxFile-100; i++ {
		fmt.Fprintf(&b, "k%d: v\n", i)
	}
	return b.String()
}

func manyAxes(axes, values int) string {
	var b strings.Builder
	b.WriteString("matrix:\n")
	for i := range axes {
		fmt.Fprintf(&b, "  a%d: [", i)
		for j := range values {
			fmt.Fprintf(&b, "%d, ", j)
		}
		b.WriteString("]\n")
	}
	return b.String()
}

func manyLevels(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "    - {concurrency: %d}\n", i+1)
	}
	return b.String()
}

// TestBOMAndCRLFAreAccepted: files that were saved on Windows.
func TestBOMAndCRLFAreAccepted(t *testing.T) {
	plain, err := decodeAndPlan("f", example)
	if err != nil {
		t.Fatal(err)
	}
	windows, err := decodeAndPlan("f", "\ufeff"+strings.ReplaceAll(example, "\n", "\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	if plain.Hash != windows.Hash {
		t.Error("the plans differ")
	}
	_, err = decodeAndPlan("f", "\ufeffname: x\r\nmtrix: 1\r\n")
	want := "f:1:1: the sweep file has no server\n    1 | name: x\n      | ^\n"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}

// TestManyProblemsAreCut: the message stays readable and says what it leaves out.
func TestManyProblemsAreCut(t *testing.T) {
	_, err := Decode("f", []byte(manyKeys()))
	var bad *FileError
	if !errors.As(err, &bad) {
		t.Fatal(err)
	}
	if len(bad.Problems) != maxProblems || !strings.HasSuffix(err.Error(), fmt.Sprintf("\nf: and %d more", bad.More)) || bad.More == 0 {
		t.Errorf("%d problems, more %d", len(bad.Problems), bad.More)
	}
}

// FuzzDecode: whatever the bytes, Decode and NewPlan end quickly with a plan
// or a *FileError whose places lie in the file.
func FuzzDecode(f *testing.F) {
	for _, path := range []string{"testdata/bad.txtar", "testdata/good.txtar"} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, section := range bytes.Split(data, []byte("\n-- ")) {
			_, text, _ := bytes.Cut(section, []byte("\n"))
			f.Add([]byte(complete(string(text) + "\n")))
		}
	}
	sweeps, _ := filepath.Glob("../../sweeps/*.yaml")
	for _, path := range sweeps {
		if data, err := os.ReadFile(path); err == nil {
			f.Add(data)
		}
	}
	f.Add([]byte("\ufeffname: &a x\r\nhost: *a\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		start := time.Now()
		plan, err := decodeAndPlan("f", string(data))
		if took := time.Since(start); took > 10*time.Second && len(data) < 100_000 {
			t.Errorf("took %s", took)
		}
		if err == nil {
			for _, r := range plan.Runs {
				if c := plan.Configuration(r.Config); c == nil || len(r.Argv) != c.words() {
					t.Fatalf("run %d: argv %q", r.Ordinal, r.Argv)
				}
			}
			return
		}
		var bad *FileError
		if !errors.As(err, &bad) || len(bad.Problems) == 0 {
			t.Fatalf("got %v", err)
		}
		lines := bytes.Count(data, []byte("\n")) + 1
		for _, p := range bad.Problems {
			if p.Message == "" || p.Pos.Line > lines+1 || p.Pos.Line < 0 || p.Pos.Column < 0 {
				t.Errorf("problem %+v in a file of %d lines", p, lines)
			}
		}
		if i := strings.IndexFunc(err.Error(), func(r rune) bool { return r < ' ' && r != '\n' }); i >= 0 {
			t.Errorf("the message holds %q", err.Error()[i:i+1])
		}
	})
}

package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sweep/internal/sglang"
)

// TestListsOfTwoVersions: the file holds both, the older first, and what a list
// made from the source leaves open is filled in.
func TestListsOfTwoVersions(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const old = `[{"names":["--model-path"],"action":"store","type":"str"},{"names":["--quantization"],"action":"store","choices":["fp8"]},
{"names":["--speculative-draft-model-quantization"],"action":"store","choices":"<expr> [*QUANTIZATION_CHOICES, 'unquant']"},
{"names":["--sampling-backend"],"action":"store"},{"names":["--cuda-graph-backend-decode"],"action":"store"}]`
	newer := write("v0.5.10.json", `[{"names":["--model-path"],"action":"store","type":"str"},{"names":["--new"],"action":"store_true"}]`)
	older := write("v0.5.9.json", old)
	out := filepath.Join(dir, "flags.jsonl")
	if err := run(out, []string{newer, older}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := sglang.ReadFlagLists(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(lists.Versions, []string{"0.5.9", "0.5.10"}) {
		t.Errorf("versions %q", lists.Versions)
	}
	first, second := lists.Set(0), lists.Set(1)
	if f := first.Lookup("model-path"); f == nil || !f.Required {
		t.Errorf("model-path is %+v", f)
	}
	if second.Lookup("new") == nil || first.Lookup("new") != nil || second.Lookup("quantization") != nil {
		t.Error("the versions are mixed up")
	}
	for name, want := range map[string][]string{"speculative-draft-model-quantization": {"fp8", "unquant"}, "sampling-backend": {"ascend", "flashinfer", "pytorch"},
		"cuda-graph-backend-decode": {"full", "breakable", "tc_piecewise", "disabled"}} {
		if got := first.Lookup(name).Choices; !slices.Equal(got, want) {
			t.Errorf("%s takes %q", name, got)
		}
	}
	for _, bad := range []string{filepath.Join(dir, "none.json"), write("v1.json", "x")} {
		if err := run(out, []string{bad}); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
	if err := run(filepath.Join(dir, "no", "dir"), []string{newer}); err == nil {
		t.Error("written where no directory is")
	}
}

package sglang

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFlagListsAreComplete(t *testing.T) {
	want := map[string]int{"0.5.6.post2": 292, "0.5.8.post1": 328, "0.5.9": 331, "0.5.10.post1": 354, "0.5.12.post1": 387, "0.5.14": 420, "0.5.16": 460, "0.5.17": 474}
	if diff := cmp.Diff([]string{"0.5.6.post2", "0.5.8.post1", "0.5.9", "0.5.10.post1", "0.5.12.post1", "0.5.14", "0.5.16", "0.5.17"}, Versions()); diff != "" {
		t.Fatal(diff)
	}
	for version, n := range want {
		fs, exact := Flags(version)
		if !exact || fs.Version != version || len(fs.Names()) != n {
			t.Errorf("%s: exact %t, version %s, %d flags, want %d", version, exact, fs.Version, len(fs.Names()), n)
		}
		if f := fs.Lookup("model"); f == nil || !f.Required || f.Name() != "model-path" {
			t.Errorf("%s: model is %+v", version, f)
		}
	}
	if len(flagLists) > 150<<10 {
		t.Errorf("the lists take %d bytes of the binary", len(flagLists))
	}
}

func TestFlagListsSurviveWriting(t *testing.T) {
	lists := embeddedLists()
	sets := make([]*FlagSet, len(lists.Versions))
	for i := range sets {
		sets[i] = lists.Set(i)
	}
	text, err := WriteFlagLists(sets)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadFlagLists(text)
	if err != nil {
		t.Fatal(err)
	}
	for i := range sets {
		a, b := again.Set(i).Names(), sets[i].Names()
		slices.Sort(a)
		slices.Sort(b)
		if diff := cmp.Diff(b, a); diff != "" {
			t.Error(diff)
		}
	}
	for _, bad := range []string{"", "{}", "[\"1\"]\nx"} {
		if _, err := ReadFlagLists(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func TestFlagsOfAVersion(t *testing.T) {
	for asked, want := range map[string]string{
		"0.5.10.post1": "0.5.10.post1", "v0.5.10.post1": "0.5.10.post1", "0.5.10.post1+cu130": "0.5.10.post1",
		"0.5.7": "0.5.6.post2", "0.5.10": "0.5.9", "0.5.10rc0": "0.5.9", "0.5.11": "0.5.10.post1", "0.5.13.post1": "0.5.12.post1",
		"0.5.10.post1.dev3": "0.5.9", "0.5.17.post1": "0.5.17", "0.6": "0.5.17", "0.4.6.post5": "0.5.6.post2", "0.5.17.dev12+gabc": "0.5.16",
		"": "0.5.17", "latest": "0.5.17",
	} {
		fs, exact := Flags(asked)
		_, hasNumber := parseRelease(asked)
		if fs.Version != want || exact != fs.Exact() || exact != (hasNumber && CompareVersions(asked, want) == 0) {
			t.Errorf("%q: the list of %s, exact %t; want that of %s", asked, fs.Version, exact, want)
		}
		if release := fs.Release(); !hasNumber && release != "" || hasNumber && CompareVersions(release, asked) != 0 {
			t.Errorf("%q: rules go by %q", asked, release)
		}
		if source := fs.Source(); !strings.Contains(source, fs.Version) || exact == strings.Contains(source, "(") {
			t.Errorf("%q: source %q", asked, source)
		}
	}
}

func TestVersionOrder(t *testing.T) {
	order := []string{"0.5.9", "0.5.10.dev1", "0.5.10a1", "0.5.10rc0", "0.5.10rc2", "0.5.10", "0.5.10.post1.dev1", "0.5.10.post1", "0.5.10.post2", "0.5.11"}
	for i := range order {
		for j := range order {
			if got, want := CompareVersions(order[i], order[j]), i-j; (got < 0) != (want < 0) || (got > 0) != (want > 0) {
				t.Errorf("%s against %s: %d", order[i], order[j], got)
			}
		}
	}
	for _, c := range []struct {
		version, from, to string
		in                bool
	}{{"0.5.12.post1", "0.5.7", "0.5.12", true}, {"0.5.13", "0.5.7", "0.5.12", false}, {"0.5.6.post2", "0.5.7", "0.5.12", false},
		{"0.5.7rc1", "0.5.7", "", false}, {"", "", "", false}, {"0.5.10", "", "", true}, {"0.5.12.1", "", "0.5.12", false}} {
		if got := versionIn(c.version, c.from, c.to); got != c.in {
			t.Errorf("%s in %s to %s: %t", c.version, c.from, c.to, got)
		}
	}
}

// TestA15PrefixesAreArgparses: --tp is completed, --pp is ambiguous, in every
// version; what is unique today need not be tomorrow.
func TestA15PrefixesAreArgparses(t *testing.T) {
	for _, version := range Versions() {
		fs, _ := Flags(version)
		for name, want := range map[string]string{"tp": "tp-size", "tp-size": "tp-size", "ep": "ep-size", "dp": "dp-size", "model": "model-path",
			"tensor-parallel-size": "tp-size", "pp": "", "quant": "", "disable-cuda": "", "tp_size": "", "nope": "", "": ""} {
			if full, _ := fs.Complete(name); full != want {
				t.Errorf("%s: %q is completed to %q, want %q", version, name, full, want)
			}
		}
		if _, candidates := fs.Complete("pp"); !slices.Contains(candidates, "pp-size") || !slices.Contains(candidates, "pp-max-micro-batch-size") {
			t.Errorf("%s: pp could be %q", version, candidates)
		}
		if _, candidates := fs.Complete("nope"); candidates != nil {
			t.Errorf("%s: nope could be %q", version, candidates)
		}
	}
	old, _ := Flags("0.5.10.post1")
	if full, _ := old.Complete("cuda-graph-max"); full != "cuda-graph-max-bs" {
		t.Errorf("cuda-graph-max is %q", full)
	}
	now, _ := Flags("0.5.17")
	if full, candidates := now.Complete("cuda-graph-max"); full != "" || len(candidates) != 3 {
		t.Errorf("cuda-graph-max is %q of %q", full, candidates)
	}
	if full, _ := now.Complete("no-dllm-fdfo"); full != "no-dllm-fdfo" || now.Lookup("no-dllm-fdfo") != nil {
		t.Errorf("the off form is %q", full)
	}
}

func TestRenamesHold(t *testing.T) {
	for _, r := range Renames() {
		first, last := FlagHistory(r.newName())
		if last == "" || CompareVersions(first, r.Since) < 0 {
			t.Errorf("%s is in the lists from %q to %q, and said to be new in %s", r.newName(), first, last, r.Since)
		}
		if first, _ := FlagHistory(r.Old); first == "" && !strings.HasPrefix(r.Old, "nsa-") {
			t.Errorf("no list has %s", r.Old)
		}
	}
	added, removed := FlagChanges("0.5.6.post2", "0.5.8.post1")
	if !slices.Contains(added, "disable-flashinfer-autotune") || !slices.Contains(removed, "enable-flashinfer-autotune") {
		t.Errorf("added %q, removed %q", added, removed)
	}
	if first, last := FlagHistory("no-such-flag"); first != "" || last != "" {
		t.Errorf("no-such-flag is from %q to %q", first, last)
	}
}

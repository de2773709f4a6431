package sim

import (
	"strings"
	"testing"

	"sweep/internal/sglang"
)

// valid is a word that a flag takes.
func (f flag) valid() string {
	if f.choices != nil {
		return f.choices[len(f.choices)-1]
	}
	return map[kind]string{text: "word", integer: "1", human: "2k", float: "0.5", object: "{}"}[f.kind]
}

// Every flag of every version is taken with a word of its kind, by each of its
// names, and refused with any other, as its list says.
func TestEveryFlagOfEveryVersion(t *testing.T) {
	t.Parallel()
	for _, v := range versions() {
		flags := sglangFlags(v)
		if len(flags) < 290 {
			t.Fatalf("%s has %d flags", v, len(flags))
		}
		for nth := range 3 { // the nth name of each
			argv := []string{"--model", "m"}
			for _, f := range flags {
				name := f.names[min(nth, len(f.names)-1)]
				if argv = append(argv, name); f.kind != toggle {
					argv = append(argv, f.valid())
				}
			}
			a, err := parseArgs(flags, argv)
			if err != nil {
				t.Fatalf("%s: %v", v, err)
			}
			for _, f := range flags {
				if off := strings.HasPrefix(f.names[min(nth, len(f.names)-1)], "--no-"); a.None(f.dest) || f.kind == toggle && a.Bool(f.dest) == off {
					t.Errorf("%s %s: %v", v, f.names[0], a.values[f.dest])
				}
			}
		}
		for _, f := range flags {
			refused := func(want string, words ...string) {
				t.Helper()
				if _, err := f.take(f.names[0], words); err == nil || !strings.Contains(err.Error(), "argument "+f.title()+": "+want) {
					t.Errorf("%s %s %v: %v, want %s", v, f.names[0], words, err, want)
				}
			}
			switch {
			case f.kind == toggle:
				refused("ignored explicit argument 'yes'", "yes")
			case f.choices != nil && f.kind == text:
				refused("invalid choice: 'nonsense' (choose from ", "nonsense")
			case f.kind != text:
				refused("invalid ", "{nonsense")
			}
			switch {
			case f.nargs == "+":
				refused("expected at least one argument")
			case f.kind != toggle && f.nargs == "":
				refused("expected one argument")
			}
		}
		if a, err := parseArgs(flags, []string{"--model", "m", "--tp", "8", "--dp", "2", "--ep", "4"}); err != nil || a.Int("tp_size") != 8 || a.Int("dp_size") != 2 || a.Int("ep_size") != 4 {
			t.Errorf("%s: %v", v, err)
		}
		if _, err := parseArgs(flags, []string{"--model", "m", "--pp", "2"}); err == nil || !strings.HasPrefix(err.Error(), "ambiguous option: --pp could match --p") {
			t.Errorf("%s: %v", v, err)
		}
	}
}

// Abbreviations mean to the simulator what they mean to the flag list.
func TestAbbreviationsAgreeWithTheLists(t *testing.T) {
	for _, v := range []string{"0.5.6.post2", "0.5.17"} {
		set, _ := sglang.Flags(v)
		flags := sglangFlags(v)
		seen := map[string]bool{}
		for _, f := range flags {
			for _, name := range f.names {
				for n := 3; n <= len(name); n += 2 {
					part := name[:n]
					if seen[part] || strings.HasPrefix("--help", part) {
						continue
					}
					seen[part] = true
					full, _ := set.Complete(part)
					w, err := classify(flags, part)
					if (full == "") != (err != nil) {
						t.Errorf("%s %s: the list says %q, the simulator %v", v, part, full, err)
					} else if err == nil && set.Lookup(w.name) != set.Lookup(full) {
						t.Errorf("%s %s: the list says %s, the simulator %s", v, part, full, w.name)
					}
				}
			}
		}
	}
}

// What is set by old names has the new name's effect.
func TestOldNamesSetTheNewFields(t *testing.T) {
	for version, argv := range map[string]string{
		"0.5.17":       "--model m --cuda-graph-max-bs 8 --nsa-prefill-backend fa3 --stream-output",
		"0.5.14":       "--model m --cuda-graph-max-bs-decode 8 --dsa-prefill-backend fa3 --incremental-streaming-output",
		"0.5.10.post1": "--model m --cuda-graph-max-bs 8",
		"0.5.12.post1": "--model m --cuda-graph-bs 1 8",
	} {
		a, err := parseArgs(sglangFlags(version), strings.Fields(argv))
		if err != nil {
			t.Fatal(err)
		}
		timing := NewTiming(mustPreset(t, "small"), setupFrom(a, version, func(string) string { return "" }, 1))
		if timing.Captured() != 8 {
			t.Errorf("%s: captured %d", version, timing.Captured())
		}
		if strings.HasPrefix(version, "0.5.1") && version > "0.5.13" && (a.Text("dsa_prefill_backend") != "fa3" || !a.Bool("incremental_streaming_output")) {
			t.Errorf("%s: %s", version, a)
		}
	}
	for argv, off := range map[string]bool{"--disable-cuda-graph": true, "--disable-decode-cuda-graph": true, "--cuda-graph-backend-decode disabled": true, "": false} {
		a, err := parseArgs(sglangFlags("0.5.17"), strings.Fields("--model m "+argv))
		if err != nil {
			t.Fatal(err)
		}
		if s := setupFrom(a, "0.5.17", func(string) string { return "" }, 1); s.GraphsOff != off {
			t.Errorf("%q: graphs off is %v", argv, s.GraphsOff)
		}
	}
}

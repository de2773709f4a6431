package verdict

import (
	"fmt"
	"strings"
	"testing"

	"sweep/internal/matrix"
	"sweep/internal/sglang"
	"sweep/internal/sweep"
)

func setting(target matrix.Target, name, word string) matrix.Setting {
	return matrix.Setting{Target: target, Name: name, Value: matrix.Value{Kind: matrix.Word, Words: []string{word}}}
}

// resolvedRun is a run of a configuration that asks for n requests at once, on
// a server that runs 64 at most.
func resolvedRun(name string, n int) sweep.Run {
	return sweep.Run{ID: "c-" + name, Name: "run-" + name, Records: []sweep.Record{{Attempt: 1,
		Configuration: sweep.Configuration{ID: "c-" + name, Name: name, Command: []string{"python3", "-m", "sglang.launch_server"},
			Flags: []matrix.Setting{setting(matrix.Flag, "max-running-requests", fmt.Sprint(n))},
			Env:   []matrix.Setting{setting(matrix.Env, "NCCL_P2P_LEVEL", "SYS"), setting(matrix.Env, "A", "1")}},
		Fingerprint: sweep.Fingerprint{Packages: map[string]string{"sglang": "0.5.10.post1"},
			Server: &sglang.Resolved{Version: "0.5.10.post1", ModelPath: "m",
				Args: map[string]any{"max_running_requests": 64.0, "port": float64(n), "nccl_port": float64(n + 1), "random_seed": float64(n), "tp_size": 8.0}}},
	}}}
}

// D10: configurations that differ and of which the server knows nothing.
func TestD10InertFromEvidence(t *testing.T) {
	record := func(r *sweep.Run) *sweep.Record { return &r.Records[len(r.Records)-1] }
	cases := []struct {
		name   string
		change func(*sweep.Run) // of the second of three; the first and the third are one server
		fires  bool
	}{
		{"nothing else", func(*sweep.Run) {}, true},
		{"the order of its variables", func(r *sweep.Run) {
			c := &record(r).Configuration
			c.Env[0], c.Env[1] = c.Env[1], c.Env[0]
		}, true},
		{"where the sweep file has it", func(r *sweep.Run) { record(r).Configuration.Env[0].Pos.Line = 9 }, true},
		{"an argument", func(r *sweep.Run) { record(r).Fingerprint.Server.Args["max_running_requests"] = 32.0 }, false},
		{"an argument that the others lack", func(r *sweep.Run) { record(r).Fingerprint.Server.Args["new"] = nil }, false},
		{"a variable", func(r *sweep.Run) { record(r).Configuration.Env[0].Value.Words[0] = "NODE" }, false},
		{"a variable taken away", func(r *sweep.Run) { record(r).Configuration.Env = nil }, false},
		{"an env-file", func(r *sweep.Run) { record(r).Configuration.EnvFile = "/root/env" }, false},
		{"its command", func(r *sweep.Run) { record(r).Configuration.Command[0] = "/opt/venv/bin/python3" }, false},
		{"its container", func(r *sweep.Run) { record(r).Configuration.Container.Instance = "other" }, false},
		{"packages", func(r *sweep.Run) { record(r).Fingerprint.Packages["torch"] = "2.9.1" }, false},
		{"the version", func(r *sweep.Run) { record(r).Fingerprint.Server.Version = "0.5.17" }, false},
		{"the model", func(r *sweep.Run) { record(r).Fingerprint.Server.ModelPath = "n" }, false},
		{"the host", func(r *sweep.Run) { record(r).Fingerprint.Host.Hostname = "other" }, false},
		{"a flag that the server does not show", func(r *sweep.Run) {
			record(r).Configuration.Flags = append(record(r).Configuration.Flags, setting(matrix.Flag, "noise", "5"))
		}, false},
		{"a seed, which was asked for", func(r *sweep.Run) {
			record(r).Configuration.Flags = append(record(r).Configuration.Flags, setting(matrix.Flag, "random-seed", "5"))
		}, false},
		{"it shows no arguments", func(r *sweep.Run) { record(r).Fingerprint.Server.Args = nil }, false},
		{"it did not say what it is", func(r *sweep.Run) { record(r).Fingerprint.Server = nil }, false},
		{"it said so at the second attempt", func(r *sweep.Run) {
			first := *record(r)
			first.Fingerprint.Server = nil
			r.Records = append([]sweep.Record{first}, r.Records...)
		}, true},
		{"the same configuration again", func(r *sweep.Run) { *r = resolvedRun("a", 2048) }, false},
		{"no record", func(r *sweep.Run) { r.Records = nil }, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			runs := []sweep.Run{resolvedRun("a", 2048), resolvedRun("b", 4096), resolvedRun("a", 2048)}
			runs[2].Name = "run-a-2"
			c.change(&runs[1])
			var on []string
			for _, f := range Judge(runs, Limits{}) {
				if f.Code != codeInert {
					continue
				}
				on = append(on, f.Run)
				if f.Grade != Note || f.Key != "" || !strings.HasPrefix(f.Seen, "a and b resolved to the same server") {
					t.Errorf("%+v", f)
				}
			}
			want := ""
			if c.fires {
				want = "run-a run-b run-a-2"
			}
			if got := strings.Join(on, " "); got != want {
				t.Errorf("inert on %q, want %q", got, want)
			}
		})
	}
}

func TestInertNamesAFew(t *testing.T) {
	var runs []sweep.Run
	for i := range 7 {
		runs = append(runs, resolvedRun(fmt.Sprintf("n=%d", i), 100+i))
	}
	findings := Judge(runs, Limits{})
	if len(findings) != 7 || !strings.HasPrefix(findings[6].Seen, "n=0 and n=1 and n=2 and n=3 and 3 more resolved") {
		t.Errorf("%+v", findings)
	}
	if v := Of(findings, runs[0].Name, ""); v != Valid {
		t.Errorf("the verdict is %s", v)
	}
}

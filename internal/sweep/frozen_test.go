package sweep

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each of the sweep files comes back from JSON as what it was.
func TestThawPlan(t *testing.T) {
	files, err := filepath.Glob("../../sweeps/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if filepath.Base(file) == "hosts.yaml" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		plan := planOf(t, string(text), PlanOptions{})
		frozen, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ThawPlan("plan.json", frozen)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		again, err := json.Marshal(back)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(frozen), string(again)); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}

func TestThawPlanRefuses(t *testing.T) {
	plan := planOf(t, sweepFile(t, "demo.yaml"), PlanOptions{})
	data, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	frozen := string(data)
	for _, c := range []struct{ name, text, want string }{
		{"not JSON", "name: demo\n", "no frozen plan"},
		{"other JSON", `{"schema":1,"seq":3}`, "no frozen plan"},
		{"newer", strings.Replace(frozen, `"schema":1`, `"schema":2`, 1), "has schema 2 and this sweep runs 1"},
		{"unknown field", strings.Replace(frozen, `"schema":1`, `"schema":1,"retries":3`, 1), "retries"},
		{"two", frozen + frozen, "no frozen plan"},
		{"port", strings.Replace(frozen, `"port":30000`, `"port":30001`, 1), "the command of run 1"},
		{"command", strings.Replace(frozen, `"--port","30000"`, `"--port","30009"`, 1), "the command of run 1"},
		{"flag", strings.Replace(frozen, `"max-running-requests"`, `"max-running-request"`, 1), "changed since it was frozen"},
		{"host", strings.Replace(frozen, `"host":"local"`, `"host":"gpu1"`, 1), "its hash does not fit"},
		{"repeats", strings.Replace(frozen, `"repeats":1`, `"repeats":2`, 1), "its hash does not fit"},
		{"cut", frozen[:len(frozen)/2], "no frozen plan"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.text == frozen {
				t.Fatal("the test changed nothing")
			}
			_, err := ThawPlan("plan.json", []byte(c.text))
			var plan *PlanError
			if !errors.As(err, &plan) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want a PlanError with %q", err, c.want)
			}
		})
	}
}

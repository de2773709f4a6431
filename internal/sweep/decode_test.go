package sweep

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

// complete appends the sections that a case does not care about; at the end,
// so that no place in the case moves.
func complete(text string) string {
	for _, section := range []struct{ key, text string }{
		{"name:", "name: case\n"},
		{"server:", "server: {command: [python3, -m, sglang.launch_server]}\n"},
		{"bench:", "bench: {workloads: {w: {input-len: 256, output-len: 128}}, levels: [{concurrency: 1}]}\n"},
	} {
		if !strings.HasPrefix(text, section.key) && !strings.Contains(text, "\n"+section.key) {
			text += section.text
		}
	}
	return text
}

// decodeAndPlan is what every command does with a file.
func decodeAndPlan(file, text string) (*Plan, error) {
	spec, err := Decode(file, []byte(text))
	if err != nil {
		return nil, err
	}
	return NewPlan(spec, PlanOptions{})
}

// TestBadFiles holds the exact message for each bad file of testdata/bad.txtar.
// A case is `-- name.yaml --` and the message `-- name.want --`.
func TestBadFiles(t *testing.T) {
	checkFiles(t, "testdata/bad.txtar", func(t *testing.T, file, text string) string {
		_, err := decodeAndPlan(file, complete(text))
		var bad *FileError
		if !errors.As(err, &bad) {
			t.Fatalf("got %v, want a *FileError", err)
		}
		return err.Error() + "\n"
	})
}

// TestGoodFiles holds what good files plan to: warnings, and each
// configuration with its exact command.
func TestGoodFiles(t *testing.T) {
	checkFiles(t, "testdata/good.txtar", func(t *testing.T, file, text string) string {
		plan, err := decodeAndPlan(file, complete(text))
		if err != nil {
			t.Fatalf("want no error, got\n%v", err)
		}
		return summary(plan)
	})
}

// summary is a plan without what every case has in common.
func summary(p *Plan) string {
	var b strings.Builder
	for _, w := range p.Warnings {
		b.WriteString("warning " + w + "\n")
	}
	for _, d := range p.Dropped {
		b.WriteString("dropped " + d.Name + " by " + d.Rule + "\n")
	}
	for _, r := range p.Runs {
		c := p.Configuration(r.Config)
		line := c.Shell(r.Argv)
		line = strings.ReplaceAll(line, "python3 -m sglang.launch_server", "…")
		b.WriteString(c.Name + ": " + line + "\n")
		if c.Container.Runtime != RuntimeProcess {
			b.WriteString("  in " + compact(c.Container) + "\n")
		}
		for _, s := range r.Skip {
			b.WriteString("  skips " + s.Name + ": " + s.Why + "\n")
		}
	}
	for _, part := range []struct {
		what  string
		value any
		used  bool
	}{
		{"env-file", p.Configurations[0].EnvFile, p.Configurations[0].EnvFile != ""},
		{"secrets", p.Secrets, p.Secrets != nil}, {"goals", p.Goals, p.Goals != nil},
		{"night", p.Night, p.Night != Night{}}, {"hooks", p.Hooks, !reflect.ValueOf(p.Hooks).IsZero()},
		{"unsupported", p.Unsupported(), p.Unsupported() != nil},
	} {
		if part.used {
			b.WriteString(part.what + " " + compact(part.value) + "\n")
		}
	}
	return b.String()
}

func compact(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return strings.TrimSpace(b.String())
}

// goldenFile is one `-- name --` section of a file of cases.
type goldenFile struct{ name, text string }

func readGolden(t *testing.T, path string) (comment string, files []goldenFile) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		name, ok := strings.CutPrefix(line, "-- ")
		name, end := strings.CutSuffix(name, " --\n")
		switch {
		case ok && end:
			files = append(files, goldenFile{name: name})
		case len(files) == 0:
			comment += line
		default:
			files[len(files)-1].text += line
		}
	}
	return comment, files
}

func checkFiles(t *testing.T, path string, got func(t *testing.T, file, text string) string) {
	comment, files := readGolden(t, path)
	wants := map[string]string{}
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.name, ".want"); ok {
			wants[name] = f.text
		}
	}
	out := comment
	seen := map[string]bool{}
	for _, f := range files {
		name, ok := strings.CutSuffix(f.name, ".yaml")
		if !ok {
			continue
		}
		if seen[name] {
			t.Errorf("two cases are called %s", name)
		}
		seen[name] = true
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			text := got(t, f.name, f.text)
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %s", took)
			}
			out += "-- " + f.name + " --\n" + f.text + "-- " + name + ".want --\n" + text
			if *update {
				return
			}
			if diff := cmp.Diff(wants[name], text); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

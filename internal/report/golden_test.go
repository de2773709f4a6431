package report

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sweep/internal/sweep"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Times are shown in the reader's zone: one that is not that of the records.
func TestMain(m *testing.M) {
	time.Local = time.FixedZone("CET", 3600)
	os.Exit(m.Run())
}

// golden compares what write writes with a file in testdata.
func golden(t *testing.T, name string, write func(io.Writer) error) string {
	t.Helper()
	var got bytes.Buffer
	if err := write(&got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s differs (rewrite with -update and look at it):\n%s", path, diff)
	}
	return got.String()
}

func text(t Table, width int) func(io.Writer) error {
	return func(w io.Writer) error { return t.Text(w, TextOptions{Width: width}) }
}

func TestGoldenGoodNight(t *testing.T) {
	table := Build(goodNight())
	golden(t, "good-80", text(table, 80))
	golden(t, "good-200", text(table, 200))
	golden(t, "good-md", table.Markdown)
	golden(t, "good-json", table.JSON)
}

func TestGoldenBadNight(t *testing.T) {
	table := Build(badNight())
	golden(t, "bad-80", text(table, 80))
	golden(t, "bad-200", text(table, 200))
	golden(t, "bad-md", table.Markdown)
}

func TestGoldenHostileNight(t *testing.T) {
	table := Build(hostileNight())
	golden(t, "hostile-80", text(table, 80))
	golden(t, "hostile-200", text(table, 200))
	golden(t, "hostile-md", table.Markdown)
}

func TestGoldenRun(t *testing.T) {
	run, findings := shownRun()
	golden(t, "run-80", func(w io.Writer) error { return RunText(w, run, findings, TextOptions{Width: 80}) })
}

func TestGoldenTies(t *testing.T) {
	table := Build(tiedNight())
	golden(t, "tied-80", text(table, 80))
	golden(t, "tied-200", text(table, 200))
	golden(t, "tied-md", table.Markdown)
}

func TestGoldenCompare(t *testing.T) {
	c1, c2 := labelled("c1", "parallel", "tp8", "cuda-graph", "off"), labelled("c2", "parallel", "tp8", "cuda-graph", "bs256")
	side := func(name, driver string, factor float64) Side {
		s := Side{Name: name}
		for repeat := 1; repeat <= 2; repeat++ {
			for i, c := range []sweep.Configuration{c1, c2} {
				v := (10.3 + 40*float64(i)) * factor * (1 + 0.01*float64(repeat))
				run := newRun(c, repeat, false, measure(levels[0], v), measure(levels[1], 40*v))
				run.Name = driver + run.Name
				run.Records[0].Fingerprint.Host.Driver = driver
				s.Runs = append(s.Runs, run)
			}
		}
		return s
	}
	in := ForRuns("comparison", []Side{side("night 20261201-221500-glm5", "595.58.03", 1), side("night 20261208-221500-glm5", "600.10", 1.015)}, nil)
	golden(t, "compare-80", text(Build(in), 80))
	golden(t, "compare-200", text(Build(in), 200))
}

package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/template"

	"sweep/internal/sweep"
)

//go:embed init.tmpl
var initTemplate string

// starter is what the template of a first sweep file is filled with.
type starter struct {
	File, Name string
	Simulated  string // why the server is the simulated one; "": it is not
	Host       string // alias of another host; "": this machine
	HostSays   string // what hosts.yaml says of it

	Asked bool // the other host itself was asked
	findings

	Parallel []parallel // ways to share the GPUs, widest tensor first; nil below two GPUs
	Deep     bool       // some of them have more than two pipeline stages

	GraphsOff             string // the flags that turn CUDA graphs off in this release
	At                    string // the point that is the baseline
	Cap, SmallCap, Chunk  int    // max-running-requests, chunked-prefill-size
	Input, Output, Single int    // tokens of a request, prompts of the single stream
	Low, High             int    // requests in flight
	MaxLevel, TTFT, TPOT  string
	Goal                  int // output tok/s that one user should see
}

// parallel is one way to share the GPUs.
type parallel struct {
	Label  string
	TP, PP int
}

func simulatedStarter(file, why string) starter {
	s := starter{File: file, Name: nightName(file), Simulated: why, Cap: 32, SmallCap: 8, Chunk: 512, Input: 64, Output: 32, Single: 4, Low: 8, High: 32,
		MaxLevel: "30s", TTFT: "1s", TPOT: "50ms", Goal: 100, GraphsOff: "disable-cuda-graph: true"}
	return s.finish()
}

// newStarter asks this machine itself where it is the host, and goes by
// hosts.yaml otherwise.
func newStarter(ctx context.Context, file string, host sweep.Host, at surroundings) starter {
	if host.Alias != "local" {
		return starterFor(file, host, listedFindings(host))
	}
	f := lookAround(ctx, host, at)
	if f.GPUs == 0 {
		return simulatedStarter(file, "No GPU was seen here: "+f.NoGPU)
	}
	return starterFor(file, host, f)
}

// starterFor makes a starter of what is known of the host.
func starterFor(file string, host sweep.Host, f findings) starter {
	s := starter{File: file, Name: nightName(file), findings: f, Cap: 1024, SmallCap: 64, Chunk: 2048, Input: 512, Output: 128, Single: 8, Low: 32, High: 256,
		MaxLevel: "3m", TTFT: "5s", TPOT: "100ms", Goal: 30}
	if host.Alias != "local" {
		s.Host, s.HostSays = host.Alias, hostSays(host)
	}
	s.GraphsOff = graphsOff(s.Sglang)
	for tp := s.GPUs; tp >= 1 && s.GPUs > 1; tp-- {
		if s.GPUs%tp != 0 {
			continue
		}
		p := parallel{Label: fmt.Sprintf("tp%d", tp), TP: tp, PP: s.GPUs / tp}
		if p.PP > 1 {
			p.Label += fmt.Sprintf("-pp%d", p.PP)
		}
		s.Parallel, s.Deep = append(s.Parallel, p), s.Deep || p.PP > 2
	}
	return s.finish()
}

// finish writes the point that is the baseline.
func (s starter) finish() starter {
	s.At = fmt.Sprintf(`cuda-graph: "on", max-running-requests: %d`, s.Cap)
	if s.Parallel != nil {
		s.At = "parallel: " + s.Parallel[0].Label + ", " + s.At
	}
	if s.File == "-" {
		s.File = initFile
	}
	return s
}

// text renders the file, and makes sure that it can be read and planned.
func (s starter) text() ([]byte, error) {
	t, err := template.New("init").Funcs(template.FuncMap{"word": yamlWord, "say": yamlComment, "shell": shellWord}).Parse(initTemplate)
	if err != nil {
		return nil, fmt.Errorf("read the template of the sweep file: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, s); err != nil {
		return nil, fmt.Errorf("fill in the sweep file: %w", err)
	}
	spec, err := sweep.Decode(s.File, b.Bytes())
	if err == nil {
		_, err = sweep.NewPlan(spec, sweep.PlanOptions{})
	}
	if err != nil {
		return nil, fmt.Errorf("this is a bug, please report it: %w", err)
	}
	return b.Bytes(), nil
}

var (
	plainWord = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9/._+@-]*$`)
	sweepName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
)

// yamlWord is a text as a YAML scalar. Go's escapes are among those of YAML's
// double quotes.
func yamlWord(s string) string {
	switch strings.ToLower(s) {
	case "null", "true", "false", "on", "off", "yes", "no", "y", "n": // for readers of YAML 1.1, too
		return strconv.Quote(s)
	}
	if plainWord.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
}

// yamlComment keeps what came from the machine on its one line of comment.
func yamlComment(s string) string { return sweep.Printable(s) }

// shellWord is one word of a command as a person would paste it.
func shellWord(s string) string { return sweep.Configuration{}.Shell([]string{s}) }

// nightName is what a sweep is called, after its file.
func nightName(file string) string {
	name := filepath.Base(file)
	name = strings.TrimSuffix(name, filepath.Ext(name))
	if !sweepName.MatchString(name) || strings.Contains(name, "..") || file == "-" {
		return "first"
	}
	return name
}

package sweep

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"sweep/internal/matrix"
)

// PlanOptions narrow and bound a plan.
type PlanOptions struct {
	Only       []string // --only: `axis=label|label,axis=*` or the name of an included configuration
	MaxConfigs int      // more is an error, never a cut; 0 means matrix.DefaultMax
}

// What a start may take when the file does not say: the hard cap and the
// longest silence of the log. Loading a 400 GB model and compiling its kernels
// for the first time takes tens of minutes.
const (
	DefaultReadyTimeout = 45 * time.Minute
	DefaultReadyStall   = 15 * time.Minute
)

// PortSpan is after how many runs the planned ports start again. One server
// runs at a time; from DefaultBasePort they stay below 32768, where Linux
// begins to hand out ports to outgoing connections.
const PortSpan = 2000

// NewPlan expands a spec into everything that will happen, in order: the
// repeats interleaved, so that each pass over the configurations is a complete
// sweep, the baseline first in each. The error is a *FileError.
func NewPlan(spec *Spec, o PlanOptions) (*Plan, error) {
	if spec.BasePort != 0 && (spec.BasePort < 1024 || spec.BasePort > 65535) {
		return nil, newFileError(spec.File, spec.source, []Problem{{Message: fmt.Sprintf("the base port %d cannot be used", spec.BasePort), Hint: "choose one from 1024 to 65535"}})
	}
	if problems := spec.checkContainer(); len(problems) > 0 {
		return nil, newFileError(spec.File, spec.source, problems)
	}
	points, err := spec.matrix().Expand(matrix.Options{Only: o.Only, Max: o.MaxConfigs})
	if err != nil {
		var problems matrix.Problems
		if errors.As(err, &problems) {
			return nil, newFileError(spec.File, spec.source, problems)
		}
		return nil, fmt.Errorf("expand %s: %w", spec.File, err)
	}
	p := &Plan{
		Schema: Schema, Name: spec.Name, Description: spec.Description, File: spec.File, Host: cmp.Or(spec.Host, "local"),
		Levels: spec.Bench.Levels, Tool: spec.Bench.Tool, MaxLevel: spec.Bench.MaxLevel, SLO: spec.Bench.SLO,
		Repeats: max(spec.Repeats, 1), Secrets: spec.Server.Secrets, Goals: spec.Goals, Night: spec.Night, Hooks: spec.Hooks, GPUs: spec.GPUs,
		Ready: ReadyBudget{Timeout: cmp.Or(spec.Server.Ready.Timeout, DefaultReadyTimeout), Stall: spec.Server.Ready.Stall},
	}
	if p.Ready.Stall == 0 {
		p.Ready.Stall = min(DefaultReadyStall, p.Ready.Timeout)
	}
	sums, err := p.configure(spec, points)
	if err != nil {
		return nil, err
	}
	p.schedule(cmp.Or(spec.BasePort, DefaultBasePort))
	p.skip(cmp.Or(spec.Bench.AboveCap, CapOnce))
	p.explain(spec, points)
	p.Hash = p.hash(sums)
	return p, nil
}

// Configuration finds one by its ID; nil when the plan has none.
func (p *Plan) Configuration(id string) *Configuration {
	for i := range p.Configurations {
		if p.Configurations[i].ID == id {
			return &p.Configurations[i]
		}
	}
	return nil
}

// configure makes the configurations and their hashes, and refuses two that
// ask for the same thing.
func (p *Plan) configure(spec *Spec, x *matrix.Expansion) ([][sha256.Size]byte, error) {
	m := newMerger(spec)
	p.Configurations = make([]Configuration, len(x.Points))
	sums := make([][sha256.Size]byte, len(x.Points))
	seen := make(map[string]int, len(x.Points))
	labels := make([]matrix.Label, 0, len(x.Points)*len(x.Axes))
	container := spec.Container
	container.Runtime = cmp.Or(container.Runtime, RuntimeProcess)
	var h hasher
	var problems []Problem
	for i, point := range x.Points {
		c := &p.Configurations[i]
		from := len(labels)
		labels = x.Labels(labels, point)
		c.Labels = labels[from:len(labels):len(labels)]
		c.Name, c.Container, c.Baseline, c.EnvFile = x.Name(point), container, i == x.Baseline, spec.Server.EnvFile
		m.merge(c, spec.Server.Command, point)
		sums[i] = h.configuration(c)
		c.ID = idOf(sums[i])
		if other, taken := seen[c.ID]; taken {
			if len(problems) <= maxProblems {
				problems = append(problems, twice(spec, x, x.Points[other], point, p.Configurations[other].Name, c.Name, sums[i] == sums[other]))
			}
			continue
		}
		seen[c.ID] = i
	}
	if len(problems) > 0 {
		return nil, newFileError(spec.File, spec.source, problems)
	}
	if x.Baseline < 0 {
		p.Configurations[0].Baseline = true
		p.Warnings = append(p.Warnings, fmt.Sprintf("--only leaves the baseline out: %s stands in for it", p.Configurations[0].Name))
	}
	return sums, nil
}

func twice(spec *Spec, x *matrix.Expansion, before, point matrix.Point, first, second string, same bool) Problem {
	pr := Problem{Message: fmt.Sprintf("the configurations %s and %s ask for the same server", first, second),
		Hint: "remove one, or set what should differ; repeats: measures one configuration several times"}
	if !same {
		pr.Message = fmt.Sprintf("the IDs of %s and %s are the same by chance", first, second)
		pr.Hint = "give one of them another variable, such as SWEEP_SALT: \"1\""
	}
	switch {
	case point.Include != nil:
		pr.Pos = point.Include.Pos
	case len(x.Axes) > 0:
		for i, a := range x.Axes { // the first value in which they part
			if point.Choice[i] != before.Choice[i] {
				pr.Pos = a.Values[point.Choice[i]].Pos
				break
			}
		}
	}
	return pr
}

// schedule orders the runs and gives each its port and exact command.
func (p *Plan) schedule(basePort int) {
	order := make([]int, 0, len(p.Configurations))
	for i, c := range p.Configurations {
		if c.Baseline {
			order = slices.Insert(order, 0, i)
		} else {
			order = append(order, i)
		}
	}
	span := min(PortSpan, 65536-basePort)
	ports := make([]string, min(span, len(order)*p.Repeats))
	for i := range ports {
		ports[i] = strconv.Itoa(basePort + i)
	}
	dashes := map[string]string{}
	dashed := func(name string) string {
		d, ok := dashes[name]
		if !ok {
			d = "--" + name
			dashes[name] = d
		}
		return d
	}
	words := 0
	for i := range p.Configurations {
		words += p.Configurations[i].words()
	}
	slab := make([]string, 0, words*p.Repeats) // one piece of memory for every command
	p.Runs = make([]PlannedRun, 0, len(order)*p.Repeats)
	for repeat := 1; repeat <= p.Repeats; repeat++ {
		for _, i := range order {
			c := &p.Configurations[i]
			ordinal := len(p.Runs) + 1
			port := (ordinal - 1) % span
			from := len(slab)
			slab = c.appendArgv(slab, ports[port], dashed)
			p.Runs = append(p.Runs, PlannedRun{Ordinal: ordinal, Config: c.ID, Repeat: repeat, Port: basePort + port,
				Argv: slab[from:len(slab):len(slab)]})
		}
	}
}

// explain says what the rules dropped and what a person should know.
func (p *Plan) explain(spec *Spec, x *matrix.Expansion) {
	p.Dropped = make([]Dropped, 0, len(x.Dropped))
	for _, d := range x.Dropped {
		p.Dropped = append(p.Dropped, Dropped{Name: x.Name(d.Point), Rule: d.Rule.Text, Pos: d.Rule.Pos})
	}
	p.DropRules = spec.dropRules(x.Dropped)
	warnings := slices.Clone(spec.Warnings)
	for _, r := range x.Idle {
		warnings = append(warnings, Warning{Pos: r.Pos, Text: "the rule " + r.Text + " drops nothing that the rules before it have not dropped"})
	}
	slices.SortStableFunc(warnings, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	for _, w := range warnings {
		p.Warnings = append(p.Warnings, at(spec.File, w.Pos)+": "+Printable(w.Text))
	}
}

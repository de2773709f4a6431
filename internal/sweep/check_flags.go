package sweep

import (
	"cmp"
	"path"
	"slices"

	"sweep/internal/matrix"
	"sweep/internal/sglang"
)

// FlagCheck is what CheckFlags goes by besides the list of flags.
type FlagCheck struct {
	GPUs     int            // of the host; 0: not known
	SM       int            // compute capability times ten; 0: not known
	KVTokens map[string]int // what the KV pool of a configuration holds, by ID, where a start was recorded
	Strict   bool           // also what a fork may accept is an error
}

// FlagReport is what there is to say about the flags of a plan, merged over
// its configurations and in file order.
type FlagReport struct {
	Errors   []Problem
	Warnings []Problem
	Notes    []Problem // what sglang will make of values; nothing to mend
}

// CheckFlags judges every configuration of a plan before anything starts: each
// flag by itself against the list, then the combination. The list is that of
// the sglang that all of them run; see sglang.Flags and sglang.ParseFlagDump.
func CheckFlags(p *Plan, fs *sglang.FlagSet, o FlagCheck) FlagReport {
	c := flagChecker{plan: p, fs: fs, options: o, single: map[settingKey][]sglang.FlagProblem{}, found: map[foundKey]*found{}}
	request := p.requestTokens()
	for i := range p.Configurations {
		config := &p.Configurations[i]
		for j := range config.Flags {
			c.flag(i, &config.Flags[j])
		}
		command := config.serverWords()
		for _, problem := range fs.CheckFlag(command, o.Strict) {
			c.add(i, problem, matrix.Pos{})
		}
		settings := config.settings(fs)
		known := sglang.Known{GPUs: o.GPUs, SM: o.SM, KVTokens: o.KVTokens[config.ID], RequestTokens: request}
		if config.simulated() {
			known.GPUs, known.SM = 0, 0 // it needs none
		} else if command.Words != nil {
			c.addAll(i, fs.Missing(settings))
		}
		c.addAll(i, sglang.Combine(settings, known, fs.Release()))
	}
	return c.report()
}

// settingKey stands for a setting that many configurations share.
type settingKey struct {
	name  string
	kind  matrix.Kind
	words *string
	count int
}

type foundKey struct {
	message string
	pos     matrix.Pos
	grade   sglang.Grade
}

// found is one problem and the configurations that have it.
type found struct {
	problem sglang.FlagProblem
	pos     matrix.Pos
	configs []int
}

type flagChecker struct {
	plan    *Plan
	fs      *sglang.FlagSet
	options FlagCheck
	single  map[settingKey][]sglang.FlagProblem
	found   map[foundKey]*found
}

// flag checks one setting, once for all the configurations that share it.
func (c *flagChecker) flag(config int, s *matrix.Setting) {
	key := settingKey{name: s.Name, kind: s.Value.Kind, count: len(s.Value.Words)}
	if key.count > 0 {
		key.words = &s.Value.Words[0]
	}
	problems, known := c.single[key]
	if !known {
		problems = c.fs.CheckFlag(given(*s), c.options.Strict)
		c.single[key] = problems
	}
	for _, p := range problems {
		c.add(config, p, s.Pos)
	}
}

// addAll adds problems of a whole configuration, each at the flag it names.
func (c *flagChecker) addAll(config int, problems []sglang.FlagProblem) {
	for _, p := range problems {
		var pos matrix.Pos
		for _, f := range c.plan.Configurations[config].Flags {
			if full, _ := c.fs.Complete(f.Name); f.Name == p.Flag || full == p.Flag {
				pos = f.Pos
			}
		}
		c.add(config, p, pos)
	}
}

func (c *flagChecker) add(config int, p sglang.FlagProblem, pos matrix.Pos) {
	key := foundKey{p.Message, pos, p.Grade}
	f := c.found[key]
	if f == nil {
		f = &found{problem: p, pos: pos}
		c.found[key] = f
	}
	if n := len(f.configs); n == 0 || f.configs[n-1] != config {
		f.configs = append(f.configs, config)
	}
}

// report writes what was found, in file order.
func (c *flagChecker) report() FlagReport {
	all := make([]*found, 0, len(c.found))
	for _, f := range c.found {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *found) int {
		return cmp.Or(cmp.Compare(a.pos.Line, b.pos.Line), cmp.Compare(a.pos.Column, b.pos.Column),
			cmp.Compare(a.configs[0], b.configs[0]), cmp.Compare(a.problem.Message, b.problem.Message))
	})
	var r FlagReport
	where := newWhere(c.plan)
	for _, f := range all {
		p := Problem{Pos: f.pos, Message: f.problem.Message + where.text(f.configs), Hint: f.problem.Hint}
		if near := matrix.Suggest(f.problem.Word, f.problem.Among); near != "" {
			p.Hint = near
		}
		switch f.problem.Grade {
		case sglang.GradeError:
			r.Errors = append(r.Errors, p)
		case sglang.GradeWarning:
			r.Warnings = append(r.Warnings, p)
		case sglang.GradeNote:
			r.Notes = append(r.Notes, p)
		}
	}
	return r
}

// Err is the errors as a person meets them, each with its line; nil for none.
func (r FlagReport) Err(spec *Spec) error {
	if len(r.Errors) == 0 {
		return nil
	}
	return newFileError(spec.File, spec.source, r.Errors)
}

// ProblemTexts writes problems on one line each, as a plan's warnings are.
func ProblemTexts(file string, problems []Problem) []string {
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = at(file, p.Pos) + ": " + Printable(p.Message)
		if p.Hint != "" {
			texts[i] += "; " + Printable(p.Hint)
		}
	}
	return texts
}

// given is a setting in sglang's terms: the kinds have the same names.
func given(s matrix.Setting) sglang.Given {
	return sglang.Given{Name: s.Name, Kind: sglang.GivenKind(s.Value.Kind), Words: s.Value.Words}
}

// settings are the flags and variables of a configuration by full name.
func (c *Configuration) settings(fs *sglang.FlagSet) sglang.Settings {
	flags := make([]sglang.Given, 0, len(c.Flags)+1)
	flags = append(flags, c.serverWords())
	for _, f := range c.Flags {
		flags = append(flags, given(f))
	}
	env := make(map[string]string, len(c.Env))
	for _, e := range c.Env {
		env[e.Name] = sglang.Unset
		if e.Value.Kind != matrix.Omit {
			env[e.Name] = e.Value.Words[0]
		}
	}
	return fs.Settings(flags, env)
}

// simulated tells whether the server is the simulated one.
func (c *Configuration) simulated() bool {
	return len(c.Command) > 1 && c.Command[0] == "sweep" && c.Command[1] == "sim"
}

// serverWords are the words of the command that sglang's parser reads. Words
// is nil where the command is one that we do not know.
func (c *Configuration) serverWords() sglang.Given {
	g := sglang.Given{Kind: sglang.GivenWords}
	for i, word := range c.Command {
		module := i > 0 && c.Command[i-1] == "-m" && word == "sglang.launch_server"
		if module || i > 0 && word == "serve" && path.Base(c.Command[i-1]) == "sglang" {
			g.Words = append([]string{}, c.Command[i+1:]...)
			break
		}
	}
	return g
}

// requestTokens is the mean length of a request at its end, prompt and output,
// in the workload where that is largest; 0 when no length is known.
func (p *Plan) requestTokens() int {
	most := 0
	for _, l := range p.Levels {
		w := l.Workload
		if w.Text != "" {
			continue
		}
		// Lengths are uniform between ratio times the length and the length.
		most = max(most, int(float64(w.InputLen+w.OutputLen)*(1+w.RangeRatio)/2))
	}
	return most
}

package sweep

import (
	"cmp"
	"encoding/binary"
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
// A setting is judged once however many configurations have it, and so is what
// the rules on combinations look at.
func CheckFlags(p *Plan, fs *sglang.FlagSet, o FlagCheck) FlagReport {
	c := flagChecker{plan: p, fs: fs, options: o, pieces: newPieces(fs), judged: map[string][]*found{}, found: map[foundKey]*found{}}
	for i := range p.Configurations {
		c.configuration(i)
	}
	return c.report()
}

type foundKey struct {
	message string
	pos     matrix.Pos
	grade   sglang.Grade
}

// found is one problem and the configurations that have it, by place in the
// plan and rising.
type found struct {
	problem sglang.FlagProblem
	pos     matrix.Pos
	configs []int32
}

type flagChecker struct {
	plan    *Plan
	fs      *sglang.FlagSet
	options FlagCheck
	pieces  *pieces
	single  [][]*found          // by piece: what is wrong with it by itself
	judged  map[string][]*found // by question: what is wrong with the combination
	found   map[foundKey]*found
}

// configuration notes what is wrong with one configuration.
func (c *flagChecker) configuration(i int) {
	config := &c.plan.Configurations[i]
	c.note(i, c.piece(c.pieces.command(config)))
	for at := range config.Flags {
		c.note(i, c.piece(c.pieces.flag(at, &config.Flags[at])))
	}
	key := c.pieces.question(config)
	if tokens := c.options.KVTokens[config.ID]; tokens != 0 {
		key = binary.LittleEndian.AppendUint64(key, uint64(tokens))
	}
	combined, known := c.judged[string(key)]
	if !known {
		question := string(key)
		for _, p := range c.combine(config) {
			combined = append(combined, c.of(p, c.place(config, p.Flag)))
		}
		c.judged[question] = combined
	}
	c.note(i, combined)
}

func (c *flagChecker) note(config int, problems []*found) {
	for _, f := range problems {
		if n := len(f.configs); n == 0 || f.configs[n-1] != int32(config) {
			f.configs = append(f.configs, int32(config))
		}
	}
}

// piece judges a setting by itself, once.
func (c *flagChecker) piece(id int32) []*found {
	for len(c.single) <= int(id) {
		p := c.pieces.all[len(c.single)]
		var pos matrix.Pos
		if p.setting != nil {
			pos = p.setting.Pos
		}
		var problems []*found
		for _, problem := range c.fs.CheckFlag(p.given, c.options.Strict) {
			problems = append(problems, c.of(problem, pos))
		}
		c.single = append(c.single, problems)
	}
	return c.single[id]
}

// of is where a problem at a place is kept.
func (c *flagChecker) of(p sglang.FlagProblem, pos matrix.Pos) *found {
	key := foundKey{p.Message, pos, p.Grade}
	f := c.found[key]
	if f == nil {
		f = &found{problem: p, pos: pos}
		c.found[key] = f
	}
	return f
}

// combine judges the flags of a configuration together.
func (c *flagChecker) combine(config *Configuration) []sglang.FlagProblem {
	settings := c.pieces.asked(config)
	known := sglang.Known{GPUs: c.options.GPUs, SM: c.options.SM, KVTokens: c.options.KVTokens[config.ID], RequestTokens: c.plan.requestTokens()}
	var problems []sglang.FlagProblem
	if config.simulated() {
		known.GPUs, known.SM = 0, 0 // it needs none
	} else if config.serverWords().Words != nil {
		problems = c.fs.Missing(settings)
	}
	return append(problems, sglang.Combine(settings, known, c.fs.Release())...)
}

// place is where a configuration sets a flag.
func (c *flagChecker) place(config *Configuration, flag string) matrix.Pos {
	var pos matrix.Pos
	for _, f := range config.Flags {
		if full, _ := c.fs.Complete(f.Name); f.Name == flag || full == flag {
			pos = f.Pos
		}
	}
	return pos
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

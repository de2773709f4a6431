package check

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"sweep/internal/sglang"
	"sweep/internal/sweep"
)

// judgeServer judges what a server is made of: program, packages, model, flags.
func (l *look) judgeServer(configs []sweep.Configuration, a answered) {
	first := configs[0]
	if a.placeErr != nil {
		l.say(Server, Fail, "program", "its place does not answer: "+a.placeErr.Error(), "")
		return
	}
	if a.place.EnvFile != "" {
		l.say(Server, Fail, "env-file", first.EnvFile+": "+a.place.EnvFile, "make it readable for the user of servers, where the server runs")
	} else if first.EnvFile != "" {
		l.say(Server, OK, "env-file", first.EnvFile+" is readable", "")
	}
	if simulated(first) {
		return
	}
	if a.place.NoProg != "" {
		remedy := "name it by its full path in server.command"
		if path.IsAbs(first.Command[0]) {
			remedy = "mend server.command: it names what is in " + l.name
		}
		l.say(Server, Fail, "program", a.place.NoProg, remedy)
	} else if !path.IsAbs(first.Command[0]) {
		l.say(Server, Note, "program", first.Command[0]+" is "+a.place.Program+" there", "its full path in server.command holds whatever PATH says")
	}
	l.judgeModel(a)
	if a.place.NoProg != "" {
		return
	}
	if !asksPython(first.Command) {
		l.say(Server, Note, "program", a.place.Program+" is not known to be sglang: versions and flags are not asked", "")
		return
	}
	l.judgePackages(a)
	l.judgeFlags(configs, a)
	if a.place.NVCC == "" || a.place.Ninja == "" {
		lacks := []string{}
		for _, tool := range []struct{ name, path string }{{"nvcc", a.place.NVCC}, {"ninja", a.place.Ninja}} {
			if tool.path == "" {
				lacks = append(lacks, tool.name)
			}
		}
		l.say(Server, Warn, "compiler", strings.Join(lacks, " and ")+" not found: kernels that are not built yet cannot be compiled", "install CUDA's nvcc and ninja there, or set CUDA_HOME and PATH under server.env")
	} else {
		l.say(Server, OK, "compiler", "nvcc and ninja are there", "")
	}
}

// judgePackages says which sglang is installed.
func (l *look) judgePackages(a answered) {
	switch p := a.python; {
	case a.pythonErr != nil:
		l.say(Server, Fail, "sglang", a.pythonErr.Error(), "")
	case p.Trouble != "":
		l.say(Server, Fail, "sglang", a.place.Program+": "+p.Trouble, "does it run by hand, in the same container?")
	case p.Packages["sglang"] == "" && p.Install == nil:
		l.say(Server, Fail, "sglang", "not installed for "+a.place.Program, "name the interpreter of its virtual environment in server.command")
	default:
		l.say(Server, OK, "sglang", versionsOf(p.Packages), "")
		if p.Install != nil && p.Install.Dirty != nil && *p.Install.Dirty {
			l.say(Server, Note, "sglang", "its source in "+p.Install.Path+" has changes that are not committed; their digest is kept with each measurement", "")
		}
	}
}

func versionsOf(packages map[string]string) string {
	var words []string
	for _, name := range []string{"sglang", "torch", "flashinfer-python", "sgl-kernel", "sglang-kernel", "transformers"} {
		if v := packages[name]; v != "" {
			words = append(words, strings.TrimSuffix(name, "-python")+" "+v)
		}
	}
	if len(words) == 0 {
		return "installed; its version is not known"
	}
	return strings.Join(words, ", ")
}

// maxFlagLines bounds what is said of flags.
const maxFlagLines = 8

// judgeFlags judges the flags of configurations by the parser of their own
// sglang, else by the list of its version.
func (l *look) judgeFlags(configs []sweep.Configuration, a answered) {
	if a.python.Packages["sglang"] == "" && a.python.Install == nil {
		return // said already
	}
	list, err := sglang.ParseFlagDump([]byte(a.parser.Dump))
	switch {
	case err == nil && a.parserErr == nil:
		l.say(Server, OK, "import", fmt.Sprintf("sglang imports in %.0f s", a.parser.Seconds), "")
	case a.parserErr != nil || a.parser.Slow:
		l.say(Server, Warn, "import", fmt.Sprintf("sglang did not import within %s", parserTime), "a cold disk? run the check again; flags were judged by a list")
		list, _ = sglang.Flags(a.python.Packages["sglang"])
	case a.parser.Trouble != "":
		l.say(Server, Fail, "import", "sglang does not import: "+a.parser.Trouble, "mend the installation: every start would end like this")
		list, _ = sglang.Flags(a.python.Packages["sglang"])
	default:
		l.say(Server, Warn, "import", "sglang's parser answered in other words", "flags were judged by a list")
		list, _ = sglang.Flags(a.python.Packages["sglang"])
	}
	for _, r := range flagResults(l.plan, configs, list, list.Installed) {
		l.say(r.Group, r.Grade, r.What, r.Finding, r.Remedy)
	}
}

// flagsBySimulator judges the flags of simulated servers: theirs are known.
func (c *checker) flagsBySimulator() []Result {
	byVersion := map[string][]sweep.Configuration{}
	var versions []string
	for _, config := range c.plan.Configurations {
		if simulated(config) {
			v := simulatedVersion(config.Command)
			if byVersion[v] == nil {
				versions = append(versions, v)
			}
			byVersion[v] = append(byVersion[v], config)
		}
	}
	var results []Result
	for _, v := range versions {
		list, _ := sglang.Flags(v)
		results = append(results, flagResults(c.plan, byVersion[v], list, true)...)
	}
	return results
}

// simulatedVersion is the release that the simulator is told to be.
func simulatedVersion(command []string) string {
	if i := slices.Index(command, "--sglang-version"); i >= 0 && i+1 < len(command) {
		return command[i+1]
	}
	return "0.5.10.post1" // what it is without being told
}

func flagResults(plan *sweep.Plan, configs []sweep.Configuration, list *sglang.FlagSet, strict bool) []Result {
	part := *plan
	part.Configurations = configs
	report := sweep.CheckFlags(&part, list, sweep.FlagCheck{Strict: strict})
	var results []Result
	add := func(grade Grade, problems []sweep.Problem) {
		for i, p := range problems {
			if i == maxFlagLines {
				results = append(results, Result{Server, grade, "flags", fmt.Sprintf("and %d more", len(problems)-i), "`sweep plan` shows all"})
				return
			}
			at := ""
			if p.Pos.Line > 0 {
				at = fmt.Sprintf("line %d: ", p.Pos.Line)
			}
			results = append(results, Result{Server, grade, "flags", at + clip(p.Message), clip(p.Hint)})
		}
	}
	add(Fail, report.Errors)
	add(Warn, report.Warnings)
	if len(report.Errors) == 0 {
		results = append(results, Result{Server, OK, "flags", fmt.Sprintf("%s by %s", plural(len(configs), "configuration fits", "configurations fit"), list.Source()), ""})
	}
	return results
}

// judgeModel says whether the model is all there.
func (l *look) judgeModel(a answered) {
	m := a.model
	switch {
	case a.modelErr != nil:
		l.say(ModelOf, Warn, "model", "it was not looked at: "+a.modelErr.Error(), "is its storage slow? run the check again")
	case m.Asked == "":
		l.say(ModelOf, Warn, "model", "no model-path is given as a flag", "")
	case m.Hub && !m.Cached && a.place.Offline:
		l.say(ModelOf, Fail, "model", fmt.Sprintf("%s is not in the cache %s, and HF_HUB_OFFLINE is set", m.Asked, m.Where), "fetch it first: HF_HUB_OFFLINE=0 hf download "+m.Asked)
	case m.Hub && !m.Cached:
		l.say(ModelOf, Warn, "model", fmt.Sprintf("%s is no directory, so it is taken for a name of the hub, and it is not in the cache %s", m.Asked, m.Where), "fetch it before the night: hf download "+m.Asked)
	case m.Trouble != "":
		l.say(ModelOf, Fail, "model", m.Trouble, modelRemedy(l.in.OnHost))
	default:
		text := m.Asked
		if m.Facts != nil {
			text += fmt.Sprintf(": %s, %s", plural(m.Shards, "shard", "shards"), size(uint64(max(m.Facts.Bytes, 0))))
		}
		l.say(ModelOf, OK, "model", text, "")
		if m.Hub && !a.place.Offline {
			l.say(ModelOf, Note, "hub", "HF_HUB_OFFLINE is not set: each start asks the hub for news", "set it to 1 under server.env")
		}
	}
}

func modelRemedy(onHost bool) string {
	if onHost {
		return "check the flag model-path"
	}
	return "check the flag model-path, and that the directory is mounted in the container"
}

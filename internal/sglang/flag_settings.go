package sglang

import (
	"slices"
	"strings"
)

// Settings are what one server is given, by full name: for judging whole
// configurations, once its flags have been checked one by one.
type Settings struct {
	Flags map[string][]string // without dashes; the words, none for a switch; a toggle has True or False
	Env   map[string]string   // what is set, and Unset for what must not be inherited
}

// Unset is the value of a variable that is taken out of the environment. No
// variable can hold it.
const Unset = "\x00"

// Settings reads flags as the server does: aliases and abbreviations under
// their full name, the last of several wins, the words of the command itself
// too. What the parser would refuse is left out, except unknown flags.
func (fs *FlagSet) Settings(given []Given, env map[string]string) Settings {
	s := Settings{Flags: map[string][]string{}, Env: env}
	for _, g := range given {
		words := g.Words
		switch {
		case g.Kind == GivenOmit:
			continue
		case g.Name != "" && g.Kind == GivenOff:
			words = []string{"--no-" + g.Name}
		case g.Name != "":
			words = slices.Concat([]string{"--" + g.Name}, g.Words)
		}
		for i := 0; i < len(words); {
			t := fs.sort(words[i])
			from := i + 1
			for i = from; i < len(words) && !fs.sort(words[i]).option; i++ {
			}
			values := words[from:i]
			switch {
			case t.inline != nil:
				values = []string{*t.inline}
			case len(values) == 0:
				values = nil
			}
			fs.settle(s, t, values)
		}
	}
	return s
}

// settle puts one option into the settings.
func (fs *FlagSet) settle(s Settings, t token, values []string) {
	switch {
	case !t.option || len(t.fits) > 1:
	case len(t.fits) == 0:
		name, _, _ := strings.Cut(t.text, "=")
		s.Flags[strings.TrimLeft(name, "-")] = values
	default:
		m := fs.index[t.fits[0]]
		switch {
		case m.off:
			values = []string{"False"}
		case m.flag.Kind == FlagToggle:
			values = []string{"True"}
		}
		s.Flags[m.flag.Name()] = values
	}
}

// has tells whether a flag is given.
func (s Settings) has(name string) bool {
	_, ok := s.Flags[name]
	return ok
}

// word is the one word of a flag, or otherwise when it is not given.
func (s Settings) word(name, otherwise string) string {
	if words := s.Flags[name]; len(words) > 0 {
		return words[len(words)-1]
	}
	return otherwise
}

// number is a flag's whole number, or otherwise when it is not given or cannot
// be read.
func (s Settings) number(name string, otherwise int64) int64 {
	if n, ok := readHuman(s.word(name, "")); ok && n.IsInt64() {
		return n.Int64()
	}
	return otherwise
}

// size is a parallel size: at least 1.
func (s Settings) size(name string) int64 { return max(s.number(name, 1), 1) }

// world is how many GPUs a server takes: tensor times pipeline parallelism,
// times data parallelism unless that lives inside tensor parallelism.
func (s Settings) world() int64 {
	const most = 1 << 20 // beyond any machine, and far from overflowing
	world := min(s.size("tp-size"), most) * min(s.size("pp-size"), most)
	if !s.has("enable-dp-attention") {
		world = min(world, most) * min(s.size("dp-size"), most)
	}
	return world
}

// sparse tells whether the model is one with sparse attention (DSA), by its
// name: GLM-5 and its successors, DeepSeek V3.2.
func (s Settings) sparse() bool {
	name := strings.ToLower(s.word("model-path", ""))
	return strings.Contains(name, "glm-5") || strings.Contains(name, "glm5") || strings.Contains(name, "deepseek-v3.2")
}

// graphsOff tells whether no CUDA graph of decoding, or of prefill, is
// captured, where nothing else given could capture one.
func (s Settings) graphsOff() (decode, prefill bool) {
	if s.has("cuda-graph-config") {
		return false, false
	}
	off := func(phase string, more ...string) bool {
		if backend := s.word("cuda-graph-backend-"+phase, ""); backend != "" {
			return backend == "disabled"
		}
		return slices.ContainsFunc(append(more, "disable-cuda-graph", "disable-"+phase+"-cuda-graph"), s.has)
	}
	return off("decode"), off("prefill", "disable-piecewise-cuda-graph")
}

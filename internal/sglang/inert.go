package sglang

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Nought is something in a configuration that changes nothing about the server.
type Nought struct {
	Name string // a flag without dashes, or a variable
	Why  string // to be read after the name
}

// tuners are the MoE backends whose kernels FlashInfer's autotune tunes, by the
// versions for which sglang's source was read: in between nothing is claimed.
func tuners(version string) (backends []string, known bool) {
	switch {
	case versionIn(version, "0.5.12", "0.5.12"):
		return []string{"flashinfer_trtllm", "flashinfer_mxfp4", "flashinfer_cutedsl"}, true
	case versionIn(version, "0.5.7", "0.5.11"):
		return []string{"flashinfer_trtllm", "flashinfer_mxfp4"}, true
	case versionIn(version, "0.5.17", "0.5.17"):
		return []string{"flashinfer_trtllm", "flashinfer_mxfp4", "flashinfer_cutedsl", "flashinfer_cutlass", "flashinfer_trtllm_routed"}, true
	}
	return nil, false
}

// autotunes tells whether autotune may run at all.
func (s Settings) autotunes(version string) bool {
	backends, known := tuners(version)
	backend := s.word("moe-runner-backend", "auto")
	if !known || backend == "auto" || slices.Contains(backends, backend) {
		return true // or it cannot be ruled out
	}
	if versionIn(version, "0.5.17", "0.5.17") {
		gemm := s.word("fp4-gemm-backend", "auto")
		return gemm == "auto" || gemm == "flashinfer_cutlass" || gemm == "flashinfer_cutedsl"
	}
	return false
}

// rule says that some flags or variables do nothing, when it holds.
type rule struct {
	names   []string // flags; a trailing * stands for any rest
	env     []string // variables, likewise
	why     string
	applies func(s Settings, version string) bool
}

func rules() []rule {
	return []rule{
		{names: []string{"disable-flashinfer-autotune", "enable-flashinfer-autotune", "flashinfer-autotune-skip-ops"},
			why:     "this version has nothing to autotune with the chosen MoE backend",
			applies: func(s Settings, version string) bool { return !s.autotunes(version) }},
		{names: []string{"flashinfer-autotune-skip-ops"}, why: "autotune is disabled",
			applies: func(s Settings, _ string) bool { return s.has("disable-flashinfer-autotune") }},
		{names: []string{"cuda-graph-max-bs", "cuda-graph-bs", "cuda-graph-max-bs-decode", "cuda-graph-bs-decode", "disable-cuda-graph-padding"},
			why:     "CUDA graphs of decoding are disabled",
			applies: func(s Settings, _ string) bool { decode, _ := s.graphsOff(); return decode }},
		{names: []string{"cuda-graph-max-bs-prefill", "cuda-graph-bs-prefill"}, why: "CUDA graphs of prefill are disabled",
			applies: func(s Settings, _ string) bool { _, prefill := s.graphsOff(); return prefill }},
		{names: []string{"piecewise-cuda-graph-tokens", "piecewise-cuda-graph-max-tokens", "piecewise-cuda-graph-compiler"}, why: "piecewise CUDA graphs are disabled",
			applies: func(s Settings, _ string) bool { return s.has("disable-piecewise-cuda-graph") }},
		{names: []string{"pp-max-micro-batch-size", "pp-async-batch-depth"}, env: []string{"SGLANG_PP_LAYER_PARTITION"}, why: "there is one pipeline stage",
			applies: func(s Settings, _ string) bool { return s.size("pp-size") == 1 }},
		{names: []string{"disable-overlap-schedule"}, why: "pipeline stages turn the overlap schedule off anyway",
			applies: func(s Settings, _ string) bool { return s.size("pp-size") > 1 }},
		{names: []string{"speculative-*"}, env: []string{"SGLANG_ENABLE_SPEC_V2"}, why: "there is no speculative-algorithm",
			applies: func(s Settings, _ string) bool { return !s.has("speculative-algorithm") }},
		{names: []string{"speculative-num-draft-tokens"}, why: "with speculative-eagle-topk 1 it follows from speculative-num-steps",
			applies: func(s Settings, _ string) bool {
				return s.has("speculative-num-steps") && s.number("speculative-eagle-topk", 0) == 1 &&
					slices.Contains([]string{"EAGLE", "EAGLE3", "NEXTN"}, s.word("speculative-algorithm", ""))
			}},
		{env: []string{"SGLANG_ENABLE_SPEC_V2"}, why: "this version does not read it any more",
			applies: func(_ Settings, version string) bool { return versionIn(version, "0.5.14", "") }},
		{names: []string{"page-size"}, why: "sglang sets 64 for this model",
			applies: func(s Settings, _ string) bool { return s.sparse() }},
		{names: []string{"attention-backend"}, why: "prefill and decode each have a backend of their own",
			applies: func(s Settings, _ string) bool {
				return s.has("prefill-attention-backend") && s.has("decode-attention-backend")
			}},
		{names: []string{"nsa-prefill-backend", "nsa-decode-backend", "dsa-prefill-backend", "dsa-decode-backend"}, why: "the attention backend is not the sparse one that they belong to",
			applies: func(s Settings, _ string) bool { return s.otherAttention() }},
		{names: []string{"disable-custom-all-reduce"}, why: "one GPU has nobody to reduce with",
			applies: func(s Settings, _ string) bool { return s.size("tp-size") == 1 }},
		{env: []string{"NCCL_*"}, why: "one GPU talks to nobody",
			applies: func(s Settings, _ string) bool { return s.world() == 1 && s.size("nnodes") == 1 }},
	}
}

// otherAttention tells whether no part of the model runs on the sparse
// attention backend.
func (s Settings) otherAttention() bool {
	all := s.word("attention-backend", "")
	for _, part := range []string{"prefill-attention-backend", "decode-attention-backend"} {
		if b := s.word(part, all); b == "" || b == "nsa" || b == "dsa" {
			return false
		}
	}
	return true
}

// Effective leaves out of the settings what does nothing with this version, as
// far as sglang's source or its own warnings say so, and writes equal values
// equally. Two servers with equal effective settings behave alike. The given
// settings stay as they are; what was left out is sorted by name.
func (fs *FlagSet) Effective(s Settings, version string) (Settings, []Nought) {
	out := Settings{Flags: maps.Clone(s.Flags), Env: maps.Clone(s.Env)}
	if out.Flags == nil {
		out.Flags = map[string][]string{}
	}
	var noughts []Nought
	idle := IdleIn(s, version)
	for name := range s.Flags {
		if why := idle.Flag(name); why != "" {
			delete(out.Flags, name)
			noughts = append(noughts, Nought{name, "does nothing: " + why})
		}
	}
	for name := range s.Env {
		if why := idle.Variable(name); why != "" {
			delete(out.Env, name)
			noughts = append(noughts, Nought{name, "does nothing: " + why})
		}
	}
	for name, words := range out.Flags {
		equal, atDefault := fs.Worth(name, words)
		if atDefault {
			delete(out.Flags, name)
			noughts = append(noughts, Nought{name, "at " + cut(Plain(words[0]), 60) + " is at its default"})
			continue
		}
		out.Flags[name] = equal
	}
	slices.SortFunc(noughts, func(a, b Nought) int { return cmp.Compare(a.Name, b.Name) })
	return out, noughts
}

// Idle says what does nothing in some settings.
type Idle struct {
	rules []rule
	key   string
}

// Key is equal where the same does nothing for the same reasons.
func (i Idle) Key() string { return i.key }

// IdleIn finds what does nothing in settings, by the flags that JudgedBy lists.
func IdleIn(s Settings, version string) Idle {
	var i Idle
	for n, r := range rules() {
		if r.applies(s, version) {
			i.rules = append(i.rules, r)
			i.key += strconv.Itoa(n) + " "
		}
	}
	return i
}

// Flag says why a flag does nothing; empty where it may do something.
func (i Idle) Flag(name string) string {
	for _, r := range i.rules {
		if named(r.names, name) {
			return r.why
		}
	}
	return ""
}

// Variable says why a variable does nothing; empty where it may do something.
func (i Idle) Variable(name string) string {
	for _, r := range i.rules {
		if named(r.env, name) {
			return r.why
		}
	}
	return ""
}

// Worth writes the words of a flag so that equal values are written equally, and
// tells whether the parser's result is that of leaving the flag out: then the
// server cannot tell them apart.
func (fs *FlagSet) Worth(name string, words []string) (equal []string, atDefault bool) {
	f := fs.Lookup(name)
	if f == nil || f.Deprecated {
		return words, false
	}
	equal = make([]string, len(words))
	for i, w := range words {
		equal[i] = f.Type.canonical(w)
	}
	return equal, fs.Exact() && len(equal) == 1 && f.Default != "" && f.Nargs == "" && equal[0] == f.Type.canonical(f.Default)
}

// named tells whether a name is one of a list in which * ends a prefix.
func named(list []string, name string) bool {
	return slices.ContainsFunc(list, func(p string) bool {
		prefix, open := strings.CutSuffix(p, "*")
		return p == name || open && strings.HasPrefix(name, prefix)
	})
}

// Inert tells whether two different settings start servers that behave alike,
// and why: what they differ in does nothing in either.
func (fs *FlagSet) Inert(a, b Settings, version string) (why string, inert bool) {
	ea, na := fs.Effective(a, version)
	eb, nb := fs.Effective(b, version)
	if ea.Key() != eb.Key() {
		return "", false
	}
	return Reason(a, b, na, nb), true
}

// Reason says why two settings that are effectively equal are: the things they
// differ in, each with why it does nothing. na and nb are what Effective left
// out of them.
func Reason(a, b Settings, na, nb []Nought) string {
	var parts []string
	for _, n := range slices.Concat(na, nb) {
		if a.same(b, n.Name) {
			continue
		}
		if part := n.Name + " " + n.Why; !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "the values are equal"
	}
	return strings.Join(parts, "; ")
}

// same tells whether two settings say the same of a flag or variable.
func (s Settings) same(o Settings, name string) bool {
	words, flag := s.Flags[name]
	otherWords, otherFlag := o.Flags[name]
	value, set := s.Env[name]
	otherValue, otherSet := o.Env[name]
	return flag == otherFlag && slices.Equal(words, otherWords) && set == otherSet && value == otherValue
}

// Key is equal for equal settings.
func (s Settings) Key() string {
	var b strings.Builder
	text := func(t string) { b.WriteString(strconv.Quote(t)); b.WriteByte(' ') }
	for _, name := range slices.Sorted(maps.Keys(s.Flags)) {
		text(name)
		for _, w := range s.Flags[name] {
			text(w)
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		text(name)
		text(s.Env[name])
		b.WriteByte('\n')
	}
	return b.String()
}

package sglang

import (
	"regexp"
	"slices"
	"strings"
)

// maxKept bounds a line that is kept or shown, in bytes.
const maxKept = 600

// match finds the signature that a line fits.
func match(text string, phase PhaseName) *signature {
	for i := range signatures {
		s := &signatures[i]
		if len(s.in) > 0 && !slices.Contains(s.in, phase) {
			continue
		}
		if slices.ContainsFunc(s.any, func(t string) bool { return strings.Contains(text, t) }) && (s.re == nil || s.re.MatchString(text)) {
			return s
		}
	}
	return nil
}

// harmless lines quote flags, prompts or optional imports: what they say is no
// failure.
func harmless(text string) bool {
	return strings.Contains(text, "server_args=") || strings.HasPrefix(text, "Ignore import error") ||
		strings.HasPrefix(text, "Receive: ") || strings.HasPrefix(text, "Finish: ") ||
		strings.HasPrefix(text, "INFO: ") && strings.Contains(text, "HTTP/1.")
}

// suspect follows a log to the first reason in time.
type suspect struct {
	cause  *Cause
	weight weight
	final  bool // whatever comes later is a consequence
	trace  trace
}

// trace is the Python traceback that a log is in.
type trace struct {
	open   bool
	args   bool // a frame is in server_args.py
	opened bool // it gave the suspect its cause, which waits for the exception
}

const traceHead = "Traceback (most recent call last):"

// exceptionLine ends a traceback: "ValueError: …", "pkg.mod.SomeError".
var exceptionLine = regexp.MustCompile(`^[A-Za-z_][\w.]*(?::|$)`)

// read looks at one line in a phase, and says whether it tells of a failure.
func (s *suspect) read(l line, phase PhaseName) bool {
	if l.stamped() {
		s.trace = trace{}
	}
	if harmless(l.text) {
		return false
	}
	sig, taken := match(l.text, phase), false
	if sig != nil {
		taken = s.consider(Cause{Code: sig.code, Class: classAt(sig.class, phase), Phase: phase,
			Line: cut(l.whole, maxKept), Hint: sig.hint}, sig.weight)
	}
	switch {
	case strings.Contains(l.text, traceHead):
		if sig == nil {
			taken = s.consider(NewCause(CodeException, phase, l.whole), opener)
		}
		s.trace = trace{open: true, opened: taken}
		return true
	case !s.trace.open:
	case strings.HasPrefix(l.text, " "):
		s.trace.args = s.trace.args || strings.Contains(l.text, "server_args.py")
	case exceptionLine.MatchString(l.text):
		if sig == nil && !s.final {
			s.exception(l, phase)
		}
		s.trace = trace{}
		return true
	}
	return sig != nil && sig.weight != symptom
}

// exception takes a line without a signature that ends a traceback.
func (s *suspect) exception(l line, phase PhaseName) {
	switch {
	case s.trace.args && phase == PhaseProcess:
		s.consider(NewCause(CodeArgs, phase, l.whole), root)
	case s.trace.opened:
		s.cause.Line = cut(l.whole, maxKept)
		if repeats(l.text) {
			s.cause.Class = classAt(Config, phase)
		}
	}
}

// repeats reports whether an exception is of a kind that comes again with the
// same code and the same flags. A RuntimeError may be the machine's.
func repeats(exception string) bool {
	name, _, _ := strings.Cut(exception, ":")
	name = name[strings.LastIndexByte(name, '.')+1:]
	return slices.Contains([]string{"AssertionError", "AttributeError", "ImportError", "IndexError", "KeyError", "ModuleNotFoundError",
		"NameError", "NotImplementedError", "SyntaxError", "TypeError", "UnboundLocalError", "ValueError", "ValidationError"}, name)
}

// consider takes a cause if it is the better explanation, and says whether it
// did.
func (s *suspect) consider(c Cause, w weight) bool {
	if s.final {
		return false
	}
	better := s.cause == nil || w == root || w == opener && s.weight == symptom
	if better {
		s.cause, s.weight = &c, w
	}
	s.final = w == root || w == collateral
	return better
}

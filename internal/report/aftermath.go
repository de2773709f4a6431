package report

import (
	"fmt"
	"strings"

	"sweep/internal/sglang"
)

func (t Table) failures(p *printer) {
	if len(t.Failures) == 0 {
		return
	}
	p.line("")
	p.line(p.paint(bold, "Failures"))
	for _, f := range t.Failures {
		p.para(red, "  ✗ ", spaced(f.Name))
		p.para(plain, "      ", failureWords(f)+" ("+strings.Join(f.Where, "; ")+")")
		if f.Line != "" {
			p.para(plain, "      ", f.Line)
		}
		if f.Hint != "" {
			p.para(plain, "      → ", f.Hint)
		}
		if log := logWords(f); log != "" {
			p.para(plain, "      log  ", log)
		}
	}
}

// failureWords says what failed, where, and what came of it.
func failureWords(f Failure) string {
	s := f.Cause
	if f.Class != "" {
		s += ", " + f.Class
	}
	switch {
	case f.Level != "":
		s += ", under load at " + f.Level
	case f.Phase != "":
		s += ", in phase " + f.Phase
	}
	if f.Exit != "" {
		s += ", " + f.Exit
		if strings.HasSuffix(f.Exit, "SIGKILL") && !f.explained() { // a teardown's KILL is no failure and stands elsewhere
			s += ", not by sweep: by its own crash, the kernel or a person"
		}
	}
	if f.Retried {
		s += "; a later attempt measured it"
	}
	return s
}

// explained tells whether the log says what went wrong: then it is no question
// who ended the process that was left.
func (f Failure) explained() bool {
	switch f.Cause {
	case "unknown", codeKilled, codeLevelFailed:
		return false
	}
	return f.Line != ""
}

// codeKilled is the cause of a server that was ended by SIGKILL, by whom is not
// known.
const codeKilled = sglang.CodeKilled

// logWords says where the log of a failure is: its first, where it was seen
// more than once.
func logWords(f Failure) string {
	switch n := len(f.Logs); n {
	case 0:
		return ""
	case 1:
		return f.Logs[0]
	default:
		return fmt.Sprintf("%s (and %d more like it)", f.Logs[0], n-1)
	}
}

func (t Table) gaps(p *printer) {
	if len(t.NotRun) == 0 {
		return
	}
	p.line("")
	p.line(p.paint(bold, "Not measured"))
	for _, g := range t.NotRun {
		p.para(plain, "  ", g.Reason+":")
		for _, what := range g.What {
			p.para(plain, "      ", spaced(what))
		}
	}
}

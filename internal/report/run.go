package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"sweep/internal/matrix"
	"sweep/internal/stats"
	"sweep/internal/sweep"
	"sweep/internal/verdict"
)

// RunText writes all that is known of one run: what was asked, how each start
// went, what was measured, and what is wrong with it.
func RunText(w io.Writer, run sweep.Run, findings []verdict.Finding, o TextOptions) error {
	p := newPrinter(w, o)
	b := &builder{in: Input{Findings: findings}, cells: []cell{{runs: []sweep.Run{run}}}}
	title := "run " + run.Name
	for _, m := range b.marks(run) {
		title += " · " + m
	}
	p.para(bold, "", title)
	if len(run.Records) == 0 {
		p.para(red, "", "no record of it can be read")
	} else {
		runHead(p, run.Records[0])
	}
	for _, r := range run.Records {
		attemptText(p, r, b)
	}
	for _, m := range run.Measurements {
		p.line("")
		head := heading(m, run.Measurements)
		for _, mark := range b.marks(run) {
			head += " · " + mark
		}
		p.para(bold, "", head)
		if v := string(verdict.Of(findings, run.Name, m.Key)); v == string(verdict.Valid) {
			p.para(green, "  ", "✓ valid")
		} else {
			p.para(gradeStyle(v), "  ", gradeMark(v)+" "+v)
		}
		measurementText(p, m)
		findingsText(p, findings, run.Name, m.Key)
	}
	if len(run.Measurements) == 0 {
		p.line("")
		text := "No level was measured."
		if slices.ContainsFunc(run.Records, func(r sweep.Record) bool { return r.Failure != nil || len(r.Unmeasured) > 0 }) {
			text = "No level was measured; why stands above."
		}
		p.para(plain, "", text)
	}
	for _, f := range findings {
		if f.Run == run.Name && f.Key == "" {
			p.line("")
			p.para(plain, "", "Of the whole run:")
			findingsText(p, findings, run.Name, "")
			break
		}
	}
	return p.err
}

func runHead(p *printer, r sweep.Record) {
	field(p, "configuration", r.Configuration.Name+" ("+r.Configuration.ID+")")
	field(p, "repeat", fmt.Sprintf("%d, of night %s", r.Repeat, r.Sweep))
	field(p, "host", describeHost(r.Fingerprint))
	if note := r.Fingerprint.Host.GPUNote; note != "" {
		field(p, "no GPU seen", note)
	}
}

// attemptText tells one start of the server from argv to teardown.
func attemptText(p *printer, r sweep.Record, b *builder) {
	status := r.Status
	if interrupted(r) {
		status = sweep.StatusInterrupted
	}
	p.line("")
	head := fmt.Sprintf("attempt %d: %s", r.Attempt, status)
	if n := len(r.Unmeasured); n > 0 {
		head += ", but " + count(n, "level") + " could not be measured"
	}
	p.para(bold, "", head)
	field(p, "started", r.Started.Local().Format("2006-01-02 15:04:05 MST")+lasted(r))
	if s := r.Fingerprint.Server; s != nil {
		field(p, "server", "sglang "+cmp.Or(s.Version, "of unknown version")+", "+s.ModelPath)
	}
	p.para(dim, "  ", "command, ready to paste:")
	p.line("  " + command(r)) // not wrapped: it must paste as it is
	if len(r.Phases) > 0 {
		var parts []string
		for _, phase := range r.Phases {
			parts = append(parts, string(phase.Name)+" "+seconds(phase.Seconds))
		}
		field(p, "phases", strings.Join(parts, " · "))
	}
	field(p, "ready after", seconds(r.ReadySeconds))
	if r.Failure != nil {
		failureText(p, *r.Failure, interrupted(r), b)
	}
	for _, u := range r.Unmeasured {
		p.para(red, "  ✗ ", b.levelOf(u.Key)+" could not be measured: "+u.Reason)
		p.para(plain, "    log  ", benchLog(b.cells[0].runs[0], r.Attempt, u.Key))
	}
	field(p, "teardown", teardownWords(r.Teardown))
}

func field(p *printer, name, text string) { p.para(plain, "  "+padRight(name, 14), text) }

func lasted(r sweep.Record) string {
	if r.Ended == nil {
		return ""
	}
	return ", ended after " + r.Ended.Sub(r.Started).Round(time.Second).String()
}

func seconds(s *float64) string {
	if s == nil {
		return unknown
	}
	return stats.Digits(*s) + " s"
}

func teardownWords(t *sweep.Teardown) string {
	if t == nil {
		return "none recorded"
	}
	s := "clean"
	if !t.Clean {
		s = "NOT clean"
	}
	s += " after " + stats.Digits(t.Seconds) + " s"
	if t.Killed {
		s += ", KILL was needed"
	}
	if len(t.Left) > 0 {
		s += ", left: " + strings.Join(t.Left, ", ")
	}
	return s + ", GPUs: " + cmp.Or(t.GPU, "not looked at")
}

// command is the argv of an attempt with the environment that the file set.
func command(r sweep.Record) string {
	var unset, set, words []string
	for _, e := range r.Configuration.Env {
		if e.Value.Kind == matrix.Omit {
			unset = append(unset, "-u", shellWord(e.Name))
		} else {
			set = append(set, shellWord(e.Name+"="+strings.Join(e.Value.Words, " ")))
		}
	}
	if len(unset)+len(set) > 0 {
		words = append(append([]string{"env"}, unset...), set...)
	}
	for _, a := range r.Argv {
		words = append(words, shellWord(a))
	}
	return strings.Join(words, " ")
}

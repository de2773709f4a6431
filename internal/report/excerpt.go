package report

import (
	"fmt"
	"slices"

	"sweep/internal/sweep"
)

// Bounds of an excerpt, in lines.
const (
	excerptLines  = 20 // as printed
	excerptWrap   = 2  // as printed, of one line of the log
	excerptBefore = 2  // of the log, before the line that told
)

// failureText tells why an attempt ended, with an excerpt of the log and where
// the whole is.
func failureText(p *printer, f sweep.Failure, interrupted bool, b *builder) {
	switch level := b.levelOf(f.Level); {
	case !interrupted:
		p.para(red, "  ✗ ", failureWords(b.failureOf(f)))
		excerptText(p, f)
		if f.Cause.Hint != "" {
			p.para(plain, "    → ", f.Cause.Hint)
		}
	case level != "":
		field(p, "interrupted", "under load at "+level)
	}
	if f.Log != "" {
		p.para(plain, "    log  ", f.Log)
	}
}

// excerptText prints as much of an excerpt as is read: from shortly before the
// line that told, else, where that is not in it, the end.
func excerptText(p *printer, f sweep.Failure) {
	const lead = "    │ "
	told := slices.Index(f.Excerpt, f.Cause.Line)
	var lines []string
	first, n := max(told-excerptBefore, 0), 0
	for ; first+n < len(f.Excerpt); n++ {
		i := first + n
		if told < 0 {
			i = len(f.Excerpt) - 1 - n
		}
		printed := wrap(clean(f.Excerpt[i]), p.width-cells(lead)-2)
		if len(printed) > excerptWrap {
			printed = printed[:excerptWrap]
			printed[excerptWrap-1] += " …"
		}
		if len(lines)+len(printed) > excerptLines {
			break
		}
		if told < 0 {
			lines = append(printed, lines...)
		} else {
			lines = append(lines, printed...)
		}
	}
	for _, line := range lines {
		p.line(lead + line)
	}
	if left := len(f.Excerpt) - n; left > 0 {
		p.para(dim, lead, fmt.Sprintf("… %s more in the record", count(left, "line")))
	}
}

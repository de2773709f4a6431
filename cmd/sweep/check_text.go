package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"

	"sweep/internal/check"
)

// Columns of a check: the grade, then what was looked at and what was found. A
// console of 80 columns is what is there when it matters.
const (
	checkIndent = 8
	checkWidth  = 80
)

// writeCheck writes a report for a person; quiet leaves out what is well.
func writeCheck(w io.Writer, r *check.Report, quiet bool) error {
	var b strings.Builder
	group := check.Group("")
	for _, x := range r.Results {
		if quiet && (x.Grade == check.OK || x.Grade == check.Note) {
			continue
		}
		if x.Group != group {
			group = x.Group
			fmt.Fprintf(&b, "%s\n", group)
		}
		writeResult(&b, x)
	}
	verdict := "fit for the night"
	if r.Fails > 0 {
		verdict = fmt.Sprintf("NOT fit for the night, %d to mend", r.Fails)
	}
	if r.Warns > 0 {
		verdict += fmt.Sprintf(", %d to look at", r.Warns)
	}
	fmt.Fprintf(&b, "%s on %s: %s (%.1f s)\n", printable(r.Plan), printable(r.Host), verdict, r.Seconds)
	_, err := io.WriteString(w, b.String())
	return err
}

func writeResult(b *strings.Builder, x check.Result) {
	mark := string(x.Grade)
	if x.Grade == check.Fail {
		mark = "FAIL"
	}
	text := x.What + ": " + x.Finding
	if x.Remedy != "" {
		text += " — " + x.Remedy
	}
	for i, line := range wrap(printable(text), checkWidth-checkIndent) {
		if i > 0 {
			mark = ""
		}
		fmt.Fprintf(b, "  %s%s\n", runewidth.FillRight(mark, checkIndent-2), line)
	}
}

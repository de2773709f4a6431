package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWrap: lines break at spaces, long names at their commas, and nowhere else.
func TestWrap(t *testing.T) {
	for text, want := range map[string][]string{
		"one two threefour": {"one two", "  threefour"},
		"[1/4] parallel=tp8,autotune=on,p2p=sys (repeat 2)": {"[1/4]", "  parallel=tp8,", "  autotune=on,", "  p2p=sys", "  (repeat 2)"},
		"    set in, two":            {"    set in,", "      two"},
		"withoutanycommatobreakat x": {"withoutanycommatobreakat", "  x"},
		"":                           {""},
	} {
		if diff := cmp.Diff(want, wrap(text, 14)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
	}
}

// TestFitKeepsWhatFits: carets stay below their places; only what is too wide is
// wrapped, and nothing is where nobody sees it.
func TestFitKeepsWhatFits(t *testing.T) {
	for _, c := range []struct {
		line  string
		width int
		want  []string
	}{
		{"      |     ^", 20, []string{"      |     ^"}},
		{"sweep: note:   two  words", 14, []string{"sweep: note:", "  two words"}},
		{"sweep: note:   two  words", 0, []string{"sweep: note:   two  words"}},
	} {
		if diff := cmp.Diff(c.want, fit(c.line, c.width)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", c.line, diff)
		}
	}
	var out bytes.Buffer
	long := "sweep: " + strings.Repeat("word ", 30) + "end"
	tell(&out, long+"\n\x1b[31mred")
	if out.String() != long+"\nred\n" {
		t.Errorf("%q", out.String())
	}
}

// TestHelpFits: what the library writes keeps its columns in 80 columns, also
// when a line comes in pieces.
func TestHelpFits(t *testing.T) {
	var out bytes.Buffer
	h := &helpWriter{out: &out}
	for _, piece := range []string{"   --all  list ", "every repeat and every dropped combination of a plan that is as long as this\n",
		"   " + strings.Repeat("x", 50) + "  words of a second column that begins too far to the right\n", "short\n"} {
		if _, err := h.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	want := "   --all  list every repeat and every dropped combination of a plan that is as\n          long as this\n" +
		"   " + strings.Repeat("x", 50) + "\n         words of a second column that begins too far to the right\nshort\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := unbroken("one\ntwo\n\nthree\n  example\n  other"); got != "one two\n\nthree\n  example\n  other" {
		t.Errorf("%q", got)
	}
}

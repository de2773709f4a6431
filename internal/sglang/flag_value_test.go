package sglang

import "testing"

func TestReadsAsPythonDoes(t *testing.T) {
	for _, c := range []struct {
		as   FlagType
		good []string
		bad  []string
	}{
		{TypeInt, []string{"1", "-1", "+1", "08", "1_000", " 7\n", "٣", "\x1c5"}, []string{"", "1.0", "1e3", "0x10", "1__0", "_1", "1_", "- 1", "x"}},
		{TypeFloat, []string{"1", ".5", "5.", "1e3", "-1E-3", "inf", "-Infinity", "nan", "1_0.0_1"}, []string{"", ".", "1e", "0x1p3", "1_.0", "infin", "1,5"}},
		{TypeHuman, []string{"1", "-1", "128k", "25.6k", "1M", "64Ki", "2Ti", " 8k "}, []string{"", "128K", "1.5Ki", "1kB", "k", "1 k", "-1k", "1e3"}},
		{TypeJSON, []string{"{}", "[1]", `"x"`, "null", "NaN", `{"a": [-Infinity, Infinity], "b": "\"NaN"}`, " 1 "}, []string{"", "{", "{'a': 1}", "-NaN", "1NaN", "[1,]", "Inf", `{"a": I}`}},
		{TypeList, []string{"{}", "[1]"}, []string{"NaN", "["}},
		{TypeGraph, []string{"{}", ` {"decode": {}, "prefill": {"backend": "full"}}`}, []string{"", "[]", "null", `{"x": {}}`, `{"decode": 1}`, `{"decode": null}`, `{"decode": {}`}},
		{TypeText, []string{"", "x"}, nil},
		{TypeAny, []string{"", "x"}, nil},
	} {
		for _, w := range c.good {
			if !c.as.reads(w) {
				t.Errorf("%s does not read %q", c.as, w)
			}
		}
		for _, w := range c.bad {
			if c.as.reads(w) {
				t.Errorf("%s reads %q", c.as, w)
			}
		}
	}
	for _, c := range []struct {
		as            FlagType
		word, spelled string
	}{{TypeInt, "08", "8"}, {TypeInt, "x", "x"}, {TypeFloat, "0.850", "0.85"}, {TypeFloat, "1e3", "1000"}, {TypeFloat, "x", "x"},
		{TypeHuman, "25.6k", "25600"}, {TypeHuman, "64Ki", "65536"}, {TypeHuman, "x", "x"}, {TypeText, "08", "08"}} {
		if got := c.as.canonical(c.word); got != c.spelled {
			t.Errorf("%s writes %q as %q", c.as, c.word, got)
		}
	}
}

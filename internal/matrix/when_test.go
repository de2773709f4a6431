package matrix

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// world is a matrix with a base for conditions to look at.
func world() Matrix {
	set := func(target Target, name string, v Value) Setting {
		return Setting{Target: target, Name: name, Value: v}
	}
	word := func(text string) Value { return Value{Kind: Word, Words: []string{text}} }
	return Matrix{
		Base: []Setting{
			set(Flag, "page-size", word("64")), set(Flag, "mem-fraction-static", word("0.85")), set(Flag, "quantization", word("fp4")),
			set(Flag, "trust-remote-code", Value{Kind: Switch}), set(Flag, "lora-strict-loading", Value{Kind: Off}),
			set(Flag, "cuda-graph-bs", Value{Kind: Words, Words: []string{"1", "2"}}), set(Flag, "hex", word("0x10")), set(Flag, "big", word("1e999")),
			set(Flag, "exp", word("1e3")), set(Flag, "dot", word(".5")), set(Flag, "gone", Value{Kind: Omit}),
			set(Env, "LEVEL", word("SYS")), set(Env, "ONE", word("1")), set(Env, "UNSET", Value{Kind: Omit}),
		},
		Axes: []Axis{
			{Name: "parallel", Values: []AxisValue{
				{Label: "tp8", Settings: []Setting{set(Flag, "tp-size", word("8"))}},
				{Label: "tp4-pp2", Settings: []Setting{set(Flag, "tp-size", word("4")), set(Flag, "pp-size", word("2")), set(Env, "LEVEL", Value{Kind: Omit})}},
			}},
			{Name: "cuda-graph", Values: []AxisValue{{Label: "on"}, {Label: "off", Settings: []Setting{set(Flag, "disable-cuda-graph", Value{Kind: Switch})}}}},
			{Name: "idle", Values: []AxisValue{{Label: "a"}, {Label: "b"}, {Label: "c"}}},
		},
	}
}

// drops are the names of the points that a condition drops; idle is left out
// of them when the condition does not look at it.
func drops(t *testing.T, m Matrix, when string) []string {
	t.Helper()
	w, problems := CompileWhen(when, nil, m.Axes)
	if len(problems) > 0 {
		t.Fatalf("%s: %v", when, problems)
	}
	m.Exclude = []Rule{{When: w, Text: when, Pos: Pos{9, 3}}}
	m.Include = []Include{{Name: "kept", Labels: labels("parallel=tp8,cuda-graph=on,idle=a")}}
	e, err := m.Expand(Options{})
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	names := []string{}
	for _, d := range e.Dropped {
		if d.Point.Choice[2] == 0 || strings.Contains(when, "idle") {
			names = append(names, strings.TrimSuffix(e.Name(d.Point), ",idle=a"))
		}
	}
	return names
}

func TestWhen(t *testing.T) {
	const a, b, c, d = "parallel=tp8,cuda-graph=on", "parallel=tp8,cuda-graph=off", "parallel=tp4-pp2,cuda-graph=on", "parallel=tp4-pp2,cuda-graph=off"
	all := []string{a, b, c, d}
	for when, want := range map[string][]string{
		`axis.parallel == "tp8"`:                                            {a, b},
		`axis["cuda-graph"] == "on" and axis.parallel != "tp8"`:             {c},
		`axis.parallel in ["tp8", "tp4-pp2"]`:                               all,
		`axis.parallel not in ["tp8"]`:                                      {c, d},
		`axis.parallel startsWith "tp4"`:                                    {c, d},
		`hasSuffix(axis.parallel, "2") and len(axis.idle) == 1`:             {"parallel=tp4-pp2,cuda-graph=on", "parallel=tp4-pp2,cuda-graph=on,idle=b", "parallel=tp4-pp2,cuda-graph=on,idle=c", "parallel=tp4-pp2,cuda-graph=off", "parallel=tp4-pp2,cuda-graph=off,idle=b", "parallel=tp4-pp2,cuda-graph=off,idle=c"},
		`flags["tp-size"] > 4`:                                              {a, b},
		`flags["tp-size"] * (flags["pp-size"] ?? 1) == 8`:                   all,
		`flags["pp-size"] == nil`:                                           {a, b},
		`flags["pp-size"] != nil && flags["pp-size"] >= 2`:                  {c, d},
		`flags["disable-cuda-graph"] == true`:                               {b, d},
		`flags["trust-remote-code"] == true`:                                all,
		`flags["lora-strict-loading"] == false`:                             all,
		`flags["quantization"] == "fp4"`:                                    all,
		`flags["cuda-graph-bs"] == "1 2"`:                                   all,
		`flags["hex"] == "0x10" && flags["big"] == "1e999"`:                 all,
		`flags["exp"] == 1000 && flags["dot"] < 0.6`:                        all,
		`flags["mem-fraction-static"] > 0.8`:                                all,
		`flags["gone"] == nil && flags["never"] == nil`:                     all,
		`flags.quantization == "fp4"`:                                       all,
		`env["LEVEL"] == "SYS"`:                                             {a, b},
		`env["LEVEL"] == nil`:                                               {c, d},
		`env.ONE == "1" && env.UNSET == nil`:                                all,
		`env["ONE"] == 1`:                                                   {},
		`(axis.parallel == "tp8" ? 1 : 0) + (axis.idle == "b" ? 1 : 0) > 1`: {"parallel=tp8,cuda-graph=on,idle=b", "parallel=tp8,cuda-graph=off,idle=b"},
		`not (axis.parallel == "tp8") || axis["cuda-graph"] == "on"`:        {a, c, d},
		`max(flags["tp-size"], 6) == 8`:                                     {a, b},
		`string(flags["tp-size"]) == "8"`:                                   {a, b},
	} {
		if len(want) == 4 && !strings.Contains(when, "idle") { // everything dropped but the include
			if got := drops(t, world(), when); len(got) != 4 {
				t.Errorf("%s drops %q", when, got)
			}
			continue
		}
		if diff := cmp.Diff(want, drops(t, world(), when)); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
	}
}

// TestWhenAndLabels: a rule with both drops what matches both.
func TestWhenAndLabels(t *testing.T) {
	m := world()
	w, problems := CompileWhen(`flags["tp-size"] == 8`, nil, m.Axes)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	m.Exclude = []Rule{{Labels: labels("cuda-graph=on,idle=c"), When: w, Text: "both"}}
	e := expand(t, m, Options{})
	if len(e.Dropped) != 1 || e.Name(e.Dropped[0].Point) != "parallel=tp8,cuda-graph=on,idle=c" {
		t.Errorf("dropped %+v", e.Dropped)
	}
	if w.Text() != `flags["tp-size"] == 8` {
		t.Errorf("text %s", w.Text())
	}
}

// TestWhenProblems: what is wrong, and at which character.
func TestWhenProblems(t *testing.T) {
	for when, want := range map[string]string{
		``:                                    `when is empty (for example 'axis.parallel == "tp8"')`,
		`axis.parallelx == "tp8"`:             `1:6: when names the axis "parallelx", which the matrix does not have (did you mean "parallel"?)`,
		`true && axis.parallel == "x8"`:       `1:26: when compares with "x8", which is no value of the axis "parallel" (its values are tp8, tp4-pp2)`,
		`"x" != axis.parallel`:                `1:1: when compares with "x", which is no value of the axis "parallel" (its values are tp8, tp4-pp2)`,
		`axis.parallel > 3`:                   `1:15: when compares or adds what does not go together: text and a number (a label and a variable are text: quote what they are compared with)`,
		`é == 1`:                              `1:1: when does not know the name "é" (when sees axis.<name>, flags["name"] and env["NAME"])`,
		`"é" == é`:                            `1:8: when does not know the name "é" (when sees axis.<name>, flags["name"] and env["NAME"])`,
		`axis.parallel.x == 1`:                `1:15: when looks for a part of something that has none (when sees axis.<name>, flags["name"] and env["NAME"])`,
		`env`:                                 `1:1: env stands alone in when (name what is asked for: env["name"])`,
		`hasprefix("a", "b")`:                 `1:1: when has no function hasprefix (did you mean "hasPrefix"?)`,
		`flags["a"]() == 1`:                   `1:11: when has "(" where none can be (join comparisons with && or ||, quote texts, and close each ( and [)`,
		`[1, 2][0] == 1`:                      `1:7: when looks for a part of something that has none (when sees axis.<name>, flags["name"] and env["NAME"])`,
		`1 in 1..9`:                           `1:7: when cannot use .. (use ==, in [...], startsWith, endsWith or contains)`,
		strings.Repeat("x", 5000):             `1:1: when is 5000 characters long, more than 4096 (split it into several rules)`,
		strings.Repeat("1 + ", 900) + "1 > 0": `1:1: when has more than 500 terms (split it into several rules)`,
	} {
		places := make([]Pos, len([]rune(when))+1)
		for i := range places {
			places[i] = Pos{1, i + 1}
		}
		if when == "" {
			places = nil
		}
		_, problems := CompileWhen(when, places, world().Axes)
		if diff := cmp.Diff(want, problems.Error()); diff != "" {
			t.Errorf("%.40s: %s", when, diff)
		}
	}
}

// TestWhenWithoutAnswer: a condition that cannot be judged somewhere is an
// error once, with the place and the point, and never a silent no.
func TestWhenWithoutAnswer(t *testing.T) {
	for when, want := range map[string]string{
		`flags["pp-size"] > 1`:      `1:18: when has no answer at parallel=tp8,cuda-graph=on,idle=a: invalid operation: nil > number (say what happens where it is not set: flags["name"] != nil && …)`,
		`flags["quantization"] < 1`: `1:23: when has no answer at parallel=tp8,cuda-graph=on,idle=a: invalid operation: text < number (text can be compared with ==, and numbers with < and > too)`,
		`not flags["page-size"]`:    `1:1: when has no answer at parallel=tp8,cuda-graph=on,idle=a: it is number, not bool (make it a comparison: flags["name"] == true, or flags["name"] > 1)`,
	} {
		m := world()
		places := make([]Pos, len(when))
		for i := range places {
			places[i] = Pos{1, i + 1}
		}
		w, problems := CompileWhen(when, places, m.Axes)
		if len(problems) > 0 {
			t.Errorf("%s: %v", when, problems)
			continue
		}
		m.Exclude = []Rule{{When: w, Text: when}}
		_, err := m.Expand(Options{})
		if err == nil {
			t.Errorf("%s: no error", when)
			continue
		}
		if diff := cmp.Diff(want, err.Error()); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
	}
}

// TestWhenProblemsSayWhatToDo: whatever is wrong with a condition, there is a
// next step, and it is that of the mistake.
func TestWhenProblemsSayWhatToDo(t *testing.T) {
	for when, hint := range map[string]string{
		``:                                        "for example",
		strings.Repeat("x", 5000):                 "split it",
		strings.Repeat("1 + ", 900) + "1 > 0":     "split it",
		`axis.parallel ==`:                        "finish it",
		`(axis.parallel == "tp8"`:                 "finish it",
		`axis.parallel = "tp8"`:                   "write ==",
		`axis.parallel "tp8"`:                     "join comparisons",
		`axis.parallel == "tp8`:                   "close it with the quote",
		`axis.parallel == 'tp8`:                   "close it with the quote",
		`axis.cuda-graph == "on"`:                 `axis["cuda-graph"]`,
		`axis.parallel > 3`:                       "quote what they are compared with",
		`flags["tp-size"]`:                        "compare it",
		`axis.parallel`:                           "for example",
		`1 % 0 == 1`:                              "",
		`1 / 0 == 1`:                              "",
		`axis`:                                    `axis["name"]`,
		`axis[1] == "x"`:                          "quote it",
		`nonsense == 1`:                           "when sees",
		`parallel == "tp8"`:                       "did you mean axis.parallel?",
		`axis.paralel == "tp8"`:                   "did you mean",
		`axis.parallel == "tp9"`:                  "did you mean",
		`axis.parallel matches "tp.*"`:            "use ==",
		`1 in 1..9`:                               "use ==",
		`uper(axis.parallel) == "TP8"`:            "did you mean",
		`filter([1], # > 0) == [1]`:               "did you mean",
		`let x = 1; x == 1`:                       "compare labels",
		`{"a": 1} == {"a": 1}`:                    "compare labels",
		`[1][0] == 1`:                             "when sees",
		`len() == 1`:                              "",
		`abs("x") == 1`:                           "",
		`-axis.parallel == 1`:                     "",
		`not axis.parallel`:                       "",
		`"a" < 1`:                                 "",
		`1 +* 2`:                                  "",
		`@`:                                       "",
		`"\q" == axis.parallel`:                   "",
		`0x == 1`:                                 "",
		`99999999999999999999 == 1`:               "",
		`flags["pp-size"] > 1`:                    "where it is not set",
		`flags["quantization"] < 1`:               "text can be compared",
		`not flags["page-size"]`:                  "make it a comparison",
		`flags["page-size"] % flags["zero"] == 1`: "where it is 0",
	} {
		m := world()
		m.Base = append(m.Base, Setting{Target: Flag, Name: "zero", Value: Value{Kind: Word, Words: []string{"0"}}})
		w, problems := CompileWhen(when, nil, m.Axes)
		if w != nil {
			m.Exclude = []Rule{{When: w, Text: when}}
			if _, err := m.Expand(Options{}); !errors.As(err, &problems) {
				continue // it has an answer after all
			}
		}
		if len(problems) == 0 {
			t.Errorf("%.40s: no problem", when)
		}
		for _, p := range problems {
			if p.Hint == "" || !strings.Contains(p.Hint, hint) {
				t.Errorf("%.40s: %q has the hint %q, want %q in it", when, p.Message, p.Hint, hint)
			}
		}
	}
}

// large is 100,000 points, and conditions that look at all axes.
func large(rules int) Matrix {
	var m Matrix
	for i := range 5 {
		a := Axis{Name: fmt.Sprintf("a%d", i)}
		for j := range 10 {
			a.Values = append(a.Values, flag(fmt.Sprintf("v%d", j), fmt.Sprintf("f%d", i), fmt.Sprint(j), 1))
		}
		m.Axes = append(m.Axes, a)
	}
	for i := range rules {
		text := fmt.Sprintf(`flags["f0"] * flags["f1"] + flags["f2"] > %d && axis.a3 == "v1" && flags["f4"] > 3`, 60+i)
		w, problems := CompileWhen(text, nil, m.Axes)
		if len(problems) > 0 {
			panic(problems)
		}
		m.Exclude = append(m.Exclude, Rule{When: w, Text: text})
	}
	return m
}

// TestWhenOf100k: conditions are cheap where they look at few axes and bounded
// where they look at all.
func TestWhenOf100k(t *testing.T) {
	start := time.Now()
	e := expand(t, large(2), Options{Max: 100_000})
	if took := time.Since(start); took > 20*time.Second { // a tenth of a second, with room for the race detector
		t.Errorf("took %s", took)
	}
	if len(e.Dropped) == 0 || len(e.Dropped)+len(e.Points) != 100_000 {
		t.Errorf("%d dropped, %d points", len(e.Dropped), len(e.Points))
	}
	_, err := large(20).Expand(Options{Max: 100_000})
	if err == nil || !strings.Contains(err.Error(), "the conditions take more than 20000000 steps to judge: this one depends on 100000 combinations") {
		t.Errorf("got %v", err)
	}
}

func BenchmarkWhen100k(b *testing.B) {
	m := large(2)
	for b.Loop() {
		if _, err := m.Expand(Options{Max: 100_000}); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzWhen: whatever the text, compiling it ends with a condition or problems,
// and judging it with an expansion or problems.
func FuzzWhen(f *testing.F) {
	for _, text := range []string{`axis.parallel == "tp8"`, `flags["tp-size"] > 4 && env["LEVEL"] == nil`, `((((`, `1..9`, `let x = 1; x`, `"\u00e9" in axis`,
		`axis?.parallel`, `flags["a"] | len()`, `{"a": axis.parallel}`, `[1][0]`, `#`, "a\x00", `1 % 0 == 1`, `-9223372036854775808 - 1 > 0`, `len(flags["quantization"]) > 2 ** 100`, `if true { 1 } else { 2 }`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m := world()
		start := time.Now()
		w, problems := CompileWhen(text, nil, m.Axes)
		if (w == nil) == (len(problems) == 0) {
			t.Fatalf("%v and %v", w, problems)
		}
		for _, p := range problems {
			if p.Message == "" || p.Hint == "" {
				t.Errorf("%+v", p)
			}
		}
		if w != nil {
			m.Exclude = []Rule{{When: w, Text: text}}
			e, err := m.Expand(Options{})
			if (e == nil) == (err == nil) {
				t.Errorf("%v and %v", e, err)
			}
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

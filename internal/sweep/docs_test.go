package sweep

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sweep/internal/sglang"
)

const languagePage = "../../docs/sweep-file.md"

// docBlock is a fenced block of the page: what stands behind its fence, its
// text, and of the block after it the same.
type docBlock struct {
	info, text         string
	nextInfo, nextText string
	from, to           int // of the next block's text, in the page
}

var docFence = regexp.MustCompile("(?ms)^```([^`\n]*)\n(.*?)^```$")

func docBlocks(page string) []docBlock {
	var blocks []docBlock
	for _, m := range docFence.FindAllStringSubmatchIndex(page, -1) {
		b := docBlock{info: page[m[2]:m[3]], text: page[m[4]:m[5]]}
		if n := len(blocks); n > 0 {
			last := &blocks[n-1]
			last.nextInfo, last.nextText, last.from, last.to = b.info, b.text, m[4], m[5]
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// TestLanguagePage: every YAML block of the page is what it says, and every
// message in it is what sweep prints. Fences are
//
//	yaml             a whole file: plans without warnings
//	yaml fragment    the same, once what it leaves out is added
//	yaml hosts       a hosts.yaml
//	yaml bad         the block after it is the error
//	yaml warns       the block after it is the warnings
//	yaml plans-only  the block after it is why `sweep run` refuses
//
// Flags are judged on eight GPUs by the newest list, or the one that
// `sglang=VERSION` names. `go test -run LanguagePage -update` rewrites messages.
func TestLanguagePage(t *testing.T) {
	data, err := os.ReadFile(languagePage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	checked := 0
	blocks := docBlocks(page)
	for i := len(blocks) - 1; i >= 0; i-- { // backwards, so that rewriting moves nothing
		b := blocks[i]
		kind, ok := strings.CutPrefix(b.info, "yaml")
		if !ok {
			continue
		}
		checked++
		kind, version, _ := strings.Cut(strings.TrimSpace(kind), " sglang=")
		said := docSays(t, kind, b.text, version)
		if kind == "" || kind == "fragment" || kind == "hosts" {
			if said != "" {
				t.Errorf("this block\n%s\nhas\n%s", b.text, said)
			}
			continue
		}
		if b.nextInfo != "text" {
			t.Errorf("no message follows the block\n%s", b.text)
			continue
		}
		if *update {
			page = page[:b.from] + said + page[b.to:]
		} else if diff := cmp.Diff(b.nextText, said); diff != "" {
			t.Errorf("%s\n(-page +sweep) %s", b.text, diff)
		}
	}
	if checked < 20 {
		t.Errorf("%d YAML blocks", checked)
	}
	if *update {
		if err := os.WriteFile(languagePage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// docSays is what sweep says about a block, empty when nothing is wrong.
func docSays(t *testing.T, kind, text, version string) string {
	t.Helper()
	lines := func(texts []string) string { return strings.Join(append(texts, ""), "\n") }
	if kind == "hosts" {
		if _, err := DecodeHosts("hosts.yaml", []byte(text)); err != nil {
			return err.Error()
		}
		return ""
	}
	if kind != "" {
		if !strings.Contains("\n"+text, "\nserver:") {
			text += "server: {command: [python3, -m, sglang.launch_server], flags: {model-path: a/b}}\n"
		}
		text = complete(text)
	}
	spec, err := Decode("night.yaml", []byte(text))
	if err != nil {
		return err.Error() + "\n"
	}
	plan, err := NewPlan(spec, PlanOptions{})
	if err != nil {
		return err.Error() + "\n"
	}
	list, _ := sglang.Flags(version)
	report := CheckFlags(plan, list, FlagCheck{GPUs: 8})
	switch inert := InertText(InertGroups(plan, list)); {
	case kind == "plans-only":
		return lines(plan.Unsupported())
	case report.Errors != nil:
		return report.Err(spec).Error() + "\n"
	case version != "" && inert != "":
		return lines(append(append(plan.Warnings, ProblemTexts("night.yaml", report.Warnings)...), inert))
	}
	var warnings []string
	for _, w := range append(plan.Warnings, ProblemTexts("night.yaml", report.Warnings)...) {
		// Fragments are about something else than the GPUs, or the model.
		if kind == "warns" || !strings.Contains(w, "the others stay idle") {
			warnings = append(warnings, w)
		}
	}
	if warnings == nil {
		return ""
	}
	return lines(warnings)
}

// TestLanguagePageIsComplete: every key that the schema knows is on the page.
func TestLanguagePageIsComplete(t *testing.T) {
	page, err := os.ReadFile(languagePage)
	if err != nil {
		t.Fatal(err)
	}
	var root any
	if err := json.Unmarshal(JSONSchema(), &root); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, child := range v {
				walk(child)
			}
		case map[string]any:
			if keys, ok := v["properties"].(map[string]any); ok {
				for key := range keys {
					if !strings.Contains(string(page), "`"+key+"`") && !strings.Contains(string(page), "`"+key+".") && !strings.Contains(string(page), "."+key+"`") {
						t.Errorf("no `%s` on the page", key)
					}
				}
			}
			for _, child := range v {
				walk(child)
			}
		}
	}
	walk(root)
	for _, name := range append(goalRates, sglang.Versions()...) {
		if !strings.Contains(string(page), "`"+name+"`") && !strings.Contains(string(page), name) {
			t.Errorf("no %s on the page", name)
		}
	}
}

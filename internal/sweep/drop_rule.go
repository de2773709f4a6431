package sweep

import (
	"strings"
	"unicode/utf8"

	"sweep/internal/matrix"
)

// maxRuleText bounds what is kept of a condition and of a comment, in characters.
const maxRuleText = 200

// dropRules are the rules that dropped something, in the order of their first
// victim.
func (s *Spec) dropRules(dropped []matrix.Drop) []DropRule {
	var rules []DropRule
	seen := map[*matrix.Rule]bool{}
	var lines []string // of the file, once they are needed
	for _, d := range dropped {
		if seen[d.Rule] {
			continue
		}
		seen[d.Rule] = true
		if lines == nil {
			lines = strings.Split(string(s.source), "\n")
		}
		rule := DropRule{Pos: d.Rule.Pos, Comment: commentAbove(lines, d.Rule.Pos.Line)}
		if d.Rule.When != nil {
			rule.When = firstLine(d.Rule.When.Text())
		}
		rules = append(rules, rule)
	}
	return rules
}

// firstLine is the first line of a text that says something, with … where others
// follow.
func firstLine(text string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if strings.TrimSpace(rest) != "" {
		first = strings.TrimSpace(first) + " …"
	}
	return Printable(shortened(first))
}

// commentAbove is the first sentence of the comment that ends just above a line,
// counted from 1; "" where there is none.
func commentAbove(lines []string, line int) string {
	first := line - 1 // index of the line; the comment ends before it
	for first > 0 && first <= len(lines) && strings.HasPrefix(strings.TrimSpace(lines[first-1]), "#") {
		first--
	}
	var words []string
	for i := first; i < line-1 && i < len(lines); i++ {
		for _, word := range strings.Fields(strings.TrimLeft(strings.TrimSpace(lines[i]), "#")) {
			words = append(words, word)
			if strings.HasSuffix(word, ".") && word != "e.g." && word != "i.e." {
				return Printable(shortened(strings.Join(words, " ")))
			}
		}
	}
	return Printable(shortened(strings.Join(words, " ")))
}

// shortened bounds a text.
func shortened(text string) string {
	if utf8.RuneCountInString(text) <= maxRuleText {
		return text
	}
	return string([]rune(text)[:maxRuleText-1]) + "…"
}

package report

import (
	"fmt"
	"slices"
	"strings"
)

// namedInert bounds how many configurations a sentence names.
const namedInert = 6

// inert says which configurations turned out to be one and the same server. It
// is true of a configuration as a whole, so it is said once and not at each
// level. The names are those of the rows.
func (b *builder) inert() []string {
	kind := map[string]string{} // by run: equal for runs of one server
	for _, f := range b.in.Findings {
		if f.Code == codeInert {
			kind[f.Run] = f.Seen
		}
	}
	var order []string
	members := map[string][]string{}
	for i, s := range b.in.Subjects {
		for _, run := range s.Runs {
			seen, ok := kind[run.Name]
			if !ok || slices.Contains(members[seen], b.names[i]) {
				continue
			}
			if members[seen] == nil {
				order = append(order, seen)
			}
			members[seen] = append(members[seen], b.names[i])
		}
	}
	var sentences []string
	for _, seen := range order {
		names, more := members[seen], ""
		if rest := len(names) - namedInert; rest > 0 {
			names, more = names[:namedInert], fmt.Sprintf(" · %d more", rest)
		}
		sentences = append(sentences, spaced(strings.Join(names, " · "))+more+
			": one and the same server; what they differ in did nothing")
	}
	return sentences
}

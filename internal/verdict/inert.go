package verdict

import (
	"fmt"
	"strings"

	"sweep/internal/sweep"
)

// namedInert bounds how many configurations a sentence names.
const namedInert = 4

// inert tells of configurations that resolved to the same server although other
// things were asked of them: what they differ in did nothing, or never reached
// the server. Their figures differ by chance only. It needs the runs of all of
// them, and is keyed by the place of a run.
func inert(runs []sweep.Run) map[int]*sight {
	type group struct {
		ids     map[string]bool
		names   []string
		members []int
	}
	groups := map[string]*group{}
	for i, run := range runs {
		record := lastServed(run)
		if record == nil {
			continue
		}
		key, ok := sweep.ServerKey(*record)
		if !ok {
			continue
		}
		g := groups[key]
		if g == nil {
			g = &group{ids: map[string]bool{}}
			groups[key] = g
		}
		g.members = append(g.members, i)
		if !g.ids[run.ID] {
			g.ids[run.ID] = true
			g.names = append(g.names, record.Configuration.Name)
		}
	}
	found := map[int]*sight{}
	for _, g := range groups {
		if len(g.names) < 2 {
			continue
		}
		s := &sight{Note, namesText(g.names) + " resolved to the same server: what they differ in did nothing",
			"other flags make another server"}
		for _, i := range g.members {
			found[i] = s
		}
	}
	return found
}

// lastServed is the last record of a run whose server said what it is.
func lastServed(run sweep.Run) *sweep.Record {
	for i := len(run.Records) - 1; i >= 0; i-- {
		if run.Records[i].Fingerprint.Server != nil {
			return &run.Records[i]
		}
	}
	return nil
}

// namesText joins names that hold commas themselves.
func namesText(names []string) string {
	if rest := len(names) - namedInert; rest > 0 {
		return strings.Join(names[:namedInert], " and ") + fmt.Sprintf(" and %d more", rest)
	}
	return strings.Join(names, " and ")
}

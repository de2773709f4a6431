package store

import (
	"fmt"
	"slices"

	"sweep/internal/sweep"
)

// newest finds the configuration of a name, or the baseline, in the newest night
// that began a run of it; false where none did. A night that cannot be read is
// passed over: others may have the name too.
func (d *Dir) newest(name string) (Match, bool) {
	ids, _, err := listDirs(d.nightsDir(), "night")
	if err != nil {
		return Match{}, false
	}
	var match Match
	from := "" // the night of the match
	for i := len(ids) - 1; i >= 0; i-- {
		night, err := d.OpenNight(ids[i])
		if err != nil {
			continue
		}
		c := called(night.plan.Configurations, name)
		if c == nil {
			continue
		}
		refs, _, err := night.Runs()
		runs := filter(inOrder(refs), func(r RunRef) bool { return r.ID == c.ID })
		switch {
		case err != nil || len(runs) == 0:
		case match.Runs == nil:
			match, from = Match{Kind: KindConfiguration, Name: name, Runs: runs}, night.id
			if c.Name != name {
				match.Name, match.Note = c.Name, fmt.Sprintf("%s is %s, of night %s", name, c.Name, night.id)
			}
		case c.ID != match.Runs[0].ID && match.Note == "":
			match.Note = fmt.Sprintf("several nights have a %s; this is that of night %s, the newest", name, from)
		}
		if match.Note != "" {
			break
		}
	}
	return match, match.Runs != nil
}

// called is the configuration of a name: its own, else for "baseline" the one
// that the others are compared with; nil where there is none.
func called(all []sweep.Configuration, name string) *sweep.Configuration {
	if i := slices.IndexFunc(all, func(c sweep.Configuration) bool { return c.Name == name }); i >= 0 {
		return &all[i]
	}
	if i := slices.IndexFunc(all, func(c sweep.Configuration) bool { return c.Baseline }); i >= 0 && name == sweep.BaselineName {
		return &all[i]
	}
	return nil
}

// whence tells of configurations, each by its ID, which night measured it last
// and when.
func (d *Dir) whence(runs []RunRef, ids []string) []string {
	texts := slices.Clone(ids)
	for i, id := range ids {
		for _, r := range runs { // oldest first
			if r.ID != id {
				continue
			}
			if record, _ := d.loadRecord(r, 1); record != nil {
				texts[i] = fmt.Sprintf("%s (night %s, %s)", id, record.Sweep, record.Started.Local().Format("2006-01-02 15:04"))
			}
		}
	}
	return texts
}

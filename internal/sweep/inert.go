package sweep

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"sweep/internal/sglang"
)

// InertGroup is some configurations that would start the same server, as far
// as is known before a start: what they differ in does nothing.
type InertGroup struct {
	Keep string   // the configuration that stands for all: the baseline, else the first
	Drop []Double // the others, in plan order
}

// Double is a configuration that repeats another one.
type Double struct {
	ID, Name string
	Why      string // what it differs in, and why that does nothing
}

// InertGroups finds configurations that differ in nothing that has an effect
// with this list's version of sglang. Only what sglang's source or its own
// warnings say is believed; with an unknown version that is less.
func InertGroups(p *Plan, fs *sglang.FlagSet) []InertGroup {
	type member struct {
		config   *Configuration
		settings sglang.Settings
		noughts  []sglang.Nought
	}
	groups := map[string][]member{}
	var order []string
	for i := range p.Configurations {
		c := &p.Configurations[i]
		m := member{config: c, settings: c.settings(fs)}
		var effective sglang.Settings
		effective, m.noughts = fs.Effective(m.settings, fs.Release())
		key := c.place() + effective.Key()
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], m)
	}
	var found []InertGroup
	for _, key := range order {
		members := groups[key]
		if len(members) == 1 {
			continue
		}
		keep := max(slices.IndexFunc(members, func(m member) bool { return m.config.Baseline }), 0)
		g := InertGroup{Keep: members[keep].config.Name}
		for i, m := range members {
			if i != keep {
				g.Drop = append(g.Drop, Double{ID: m.config.ID, Name: m.config.Name,
					Why: sglang.Reason(members[keep].settings, m.settings, members[keep].noughts, m.noughts)})
			}
		}
		found = append(found, g)
	}
	return found
}

// place is what a configuration runs in and by, besides flags and variables.
func (c *Configuration) place() string {
	text, err := json.Marshal([]any{c.Command, c.EnvFile, c.Container})
	if err != nil {
		return c.ID // strings only, so never; and then it equals nothing
	}
	return string(text)
}

// DropInert is the plan without configurations that repeat another one, each
// listed among the dropped with its reason; the plan itself when there are
// none. The given plan stays as it is.
func (p *Plan) DropInert(fs *sglang.FlagSet) *Plan {
	gone := map[string]Dropped{}
	for _, g := range InertGroups(p, fs) {
		for _, d := range g.Drop {
			gone[d.ID] = Dropped{Name: d.Name, Rule: "inert, as " + g.Keep + ": " + d.Why}
		}
	}
	if len(gone) == 0 {
		return p
	}
	out := *p
	out.Configurations, out.Dropped, out.Runs = nil, slices.Clone(p.Dropped), nil
	var h hasher
	var sums [][sha256.Size]byte
	for _, c := range p.Configurations {
		if d, drop := gone[c.ID]; drop {
			out.Dropped = append(out.Dropped, d)
			continue
		}
		out.Configurations = append(out.Configurations, c)
		sums = append(sums, h.configuration(&c))
	}
	out.schedule(p.Runs[0].Port)
	skips := make(map[string][]Skipped, len(p.Configurations))
	for _, r := range p.Runs {
		skips[r.Config] = r.Skip
	}
	for i := range out.Runs {
		out.Runs[i].Skip = skips[out.Runs[i].Config]
	}
	out.Hash = out.hash(sums)
	return &out
}

// InertText says in one line how many configurations repeat others, and why;
// empty when none does.
func InertText(groups []InertGroup) string {
	var reasons []string
	n := 0
	for _, g := range groups {
		n += len(g.Drop)
		for _, d := range g.Drop {
			for why := range strings.SplitSeq(d.Why, "; ") {
				if !slices.Contains(reasons, why) {
					reasons = append(reasons, why)
				}
			}
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "1 configuration repeats another one: " + strings.Join(reasons, "; ") + "; --drop-inert leaves it out"
	}
	return strconv.Itoa(n) + " configurations repeat others: " + strings.Join(reasons, "; ") + "; --drop-inert leaves them out"
}

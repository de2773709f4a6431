package report

import (
	"slices"
	"strings"

	"sweep/internal/sweep"
)

// Recipe is a configuration by hand and what it stands for.
type Recipe struct {
	Name  string `json:"name"`
	Means string `json:"means"` // "baseline + autotune=on, mem-fraction-static=0.95"
}

// name names the subjects. Where all are compared with one of them, each is
// called by what it changes of that one; else by the labels that vary.
func (b *builder) name() {
	base := slices.IndexFunc(b.in.Subjects, func(s Subject) bool { return s.Against >= 0 })
	if base >= 0 {
		base = b.in.Subjects[base].Against
	}
	if base < 0 || len(b.in.Sides) > 1 || len(b.in.Subjects) < 2 {
		b.names, b.common = nameSubjects(b.in.Subjects)
		b.explainSides()
		return
	}
	configs := make([]sweep.Configuration, len(b.in.Subjects))
	for i, s := range b.in.Subjects {
		configs[i] = s.Config
	}
	b.changes = true
	for i, d := range sweep.Differences(configs, base) {
		name := d.Name
		if name == "" || slices.Contains(b.names, name) {
			name = strings.TrimSpace(name + " " + configs[i].ID)
		}
		b.names = append(b.names, name)
		if d.Recipe != "" {
			b.recipes = append(b.recipes, Recipe{Name: name, Means: d.Recipe})
		}
	}
}

// explainSides says what a configuration by hand changes of what it is compared
// with: two nights may have two servers under one such name, which would read
// as the noise of one.
func (b *builder) explainSides() {
	for i, s := range b.in.Subjects {
		if s.Against < 0 || b.in.Subjects[s.Against].Config.ID == s.Config.ID {
			continue
		}
		pair := []sweep.Configuration{b.in.Subjects[s.Against].Config, s.Config}
		if d := sweep.Differences(pair, 0)[1]; d.Recipe != "" {
			b.recipes = append(b.recipes, Recipe{Name: b.names[i], Means: strings.Replace(d.Recipe, "baseline", b.names[s.Against], 1)})
		}
	}
}

// nameSubjects gives each subject the shortest name that tells it apart: the
// labels that vary. What all have in common is returned once.
func nameSubjects(subjects []Subject) (names, common []string) {
	shared := sharedLabels(subjects)
	for _, s := range subjects {
		names = append(names, shortName(s, shared))
	}
	count := map[string]int{}
	for i, s := range subjects {
		count[s.Side+"\x00"+names[i]]++
	}
	for i, s := range subjects {
		if names[i] == "" || count[s.Side+"\x00"+names[i]] > 1 {
			names[i] = s.Config.Name // two that differ in what labels don't say
			if same := sameName(subjects, s); same > 1 || names[i] == "" {
				names[i] = strings.TrimSpace(names[i] + " " + s.Config.ID)
			}
		}
		if s.Side != "" {
			names[i] = s.Side + ": " + names[i]
		}
	}
	if len(subjects) > 0 {
		for _, l := range subjects[0].Config.Labels {
			if shared[l.Axis] {
				common = append(common, l.Axis+"="+l.Value)
			}
		}
	}
	return names, common
}

// sharedLabels tells the axes on which all subjects have one value. With one
// subject there is nothing to tell apart, so nothing is stripped.
func sharedLabels(subjects []Subject) map[string]bool {
	shared := map[string]bool{}
	if len(subjects) < 2 {
		return shared
	}
	for _, l := range subjects[0].Config.Labels {
		shared[l.Axis] = true
	}
	for _, s := range subjects {
		have := map[string]string{}
		for _, l := range s.Config.Labels {
			have[l.Axis] = l.Value
		}
		for _, l := range subjects[0].Config.Labels {
			if value, ok := have[l.Axis]; !ok || value != l.Value {
				delete(shared, l.Axis)
			}
		}
	}
	return shared
}

// shortName is the labels that vary, or the name that a person gave.
func shortName(s Subject, shared map[string]bool) string {
	var all, varying []string
	for _, l := range s.Config.Labels {
		all = append(all, l.Axis+"="+l.Value)
		if !shared[l.Axis] {
			varying = append(varying, l.Axis+"="+l.Value)
		}
	}
	if len(all) == 0 || s.Config.Name != strings.Join(all, ",") {
		return s.Config.Name
	}
	return strings.Join(varying, ",")
}

func sameName(subjects []Subject, s Subject) int {
	n := 0
	for _, other := range subjects {
		if other.Side == s.Side && other.Config.Name == s.Config.Name {
			n++
		}
	}
	return n
}

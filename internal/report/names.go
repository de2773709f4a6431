package report

import "strings"

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

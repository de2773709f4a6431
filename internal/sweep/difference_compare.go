package sweep

import (
	"slices"
	"strings"

	"sweep/internal/matrix"
)

// comparer lays configurations beside one of them.
type comparer struct {
	labels   map[string]string
	settings []named
	have     map[string]string
}

// named is one thing that a configuration sets, in words, under a key.
type named struct{ key, text, without string }

func newComparer(base *Configuration) *comparer {
	c := &comparer{labels: map[string]string{}, settings: settingsOf(base), have: map[string]string{}}
	for _, l := range base.Labels {
		c.labels[l.Axis] = l.Value
	}
	for _, s := range c.settings {
		c.have[s.key] = s.text
	}
	return c
}

// changed are the labels that the base does not have, as axis=label.
func (b *comparer) changed(c *Configuration) []string {
	var list []string
	for _, l := range c.Labels {
		if value, ok := b.labels[l.Axis]; !ok || value != l.Value {
			list = append(list, l.Axis+"="+l.Value)
		}
	}
	return list
}

// otherwise is what a configuration sets differently from the base, in words.
func (b *comparer) otherwise(c *Configuration) []string {
	var list []string
	mine := settingsOf(c)
	seen := make(map[string]bool, len(mine))
	for _, s := range mine {
		seen[s.key] = true
		if b.have[s.key] != s.text {
			list = append(list, s.text)
		}
	}
	for _, s := range b.settings {
		if !seen[s.key] {
			list = append(list, s.without)
		}
	}
	return list
}

// implied says by which labels a setting is known to come: the fewest that some
// configuration of the matrix has beside the base's, for each setting.
type implied map[string][][]string

// maxImplied bounds how many ways to one setting are kept.
const maxImplied = 8

func (b *comparer) learn(all []Configuration) implied {
	known := implied{}
	for i := range all {
		c := &all[i]
		if c.ByHand() {
			continue
		}
		by := b.changed(c)
		for _, text := range b.otherwise(c) {
			switch ways := known[text]; {
			case len(ways) == 0 || len(by) < len(ways[0]):
				known[text] = [][]string{by}
			case len(by) == len(ways[0]) && len(ways) < maxImplied:
				known[text] = append(ways, by)
			}
		}
	}
	return known
}

// recipe is what a configuration by hand changes: its labels, and of its
// settings those that do not come with them.
func (b *comparer) recipe(c *Configuration, changed []string, known implied) string {
	parts := slices.Clone(changed)
	for _, text := range b.otherwise(c) {
		comes := slices.ContainsFunc(known[text], func(by []string) bool {
			return !slices.ContainsFunc(by, func(label string) bool { return !slices.Contains(changed, label) })
		})
		if !comes && !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return BaselineName // labels and settings that say the same
	}
	return BaselineName + " + " + strings.Join(parts, ", ")
}

// settingsOf are all that a configuration sets, in words.
func settingsOf(c *Configuration) []named {
	list := make([]named, 0, len(c.Flags)+len(c.Env)+2)
	for _, group := range [][]matrix.Setting{c.Flags, c.Env} {
		for _, s := range group {
			text := s.Name
			switch s.Value.Kind {
			case matrix.Switch:
			case matrix.Omit:
				text += " unset"
			case matrix.Off:
				text = "no-" + s.Name
			default:
				text += "=" + strings.Join(s.Value.Words, " ")
			}
			list = append(list, named{string(s.Target) + " " + s.Name, text, "without " + s.Name})
		}
	}
	list = append(list, named{key: "command", text: "command " + strings.Join(c.Command, " ")})
	for _, part := range []struct{ name, value string }{{"image", c.Container.Image}, {"instance", c.Container.Instance}, {"copy-of", c.Container.CopyOf}} {
		if part.value != "" {
			list = append(list, named{"container", part.name + "=" + part.value, "no container"})
		}
	}
	return list
}

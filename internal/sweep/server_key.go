package sweep

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sweep/internal/matrix"
)

// ServerKey stands for the server that a configuration turned out to have: two
// configurations of one key ran the same server, whatever they asked for. It is
// made of what the server said of itself, as ServerDiff compares it, of what it
// was started in and by, and of each flag that it does not show: such a flag
// may well do something. False where the server did not say what it is.
func ServerKey(r Record) (string, bool) {
	s := r.Fingerprint.Server
	if s == nil || len(s.Args) == 0 {
		return "", false
	}
	args := maps.Clone(s.Args)
	for _, name := range volatileArgs {
		delete(args, name)
	}
	c := r.Configuration
	hidden := settingTexts(c.Flags, func(flag string) bool {
		// argparse names an argument after its flag, save for the dashes.
		_, shown := args[strings.ReplaceAll(flag, "-", "_")]
		return !shown
	})
	env := settingTexts(c.Env, func(string) bool { return true })
	text, err := json.Marshal([]any{r.Fingerprint.Host.Hostname, r.Fingerprint.Packages, s.Version, s.ModelPath, s.Simulated, args,
		c.Command, c.EnvFile, c.Container, env, hidden})
	if err != nil {
		return "", false // a figure that JSON has no word for, and that came out of JSON
	}
	sum := sha256.Sum256(text)
	return string(sum[:]), true
}

// settingTexts are the settings that are wanted, each as its name, kind and
// words, in order of their names.
func settingTexts(settings []matrix.Setting, want func(name string) bool) [][]string {
	var texts [][]string
	for _, s := range settings {
		if want(s.Name) {
			texts = append(texts, append([]string{s.Name, string(s.Value.Kind)}, s.Value.Words...))
		}
	}
	slices.SortStableFunc(texts, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return texts
}

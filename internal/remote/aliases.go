package remote

import (
	"os"
	"strings"
)

// Aliases are the hosts that an SSH configuration names without a wildcard, for
// asking what a person may have meant. What cannot be read has none; files that
// it includes are not looked into.
func Aliases(local Local) []string {
	local, err := local.filled()
	if err != nil {
		return nil
	}
	info, err := os.Stat(local.Config)
	if err != nil || !info.Mode().IsRegular() || info.Size() > configSize {
		return nil
	}
	text, err := os.ReadFile(local.Config)
	if err != nil {
		return nil
	}
	var names []string
	for _, line := range splitConfig(string(text)) {
		if line.keyword != "host" {
			continue
		}
		patterns, _ := words(line.value)
		for _, p := range patterns {
			if !strings.ContainsAny(p, "*?!") {
				names = append(names, p)
			}
		}
	}
	return names
}

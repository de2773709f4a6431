package sim

import (
	"os"
	"strings"
	"testing"
)

// The page about the simulator names every fault, cause and release.
func TestDocsNameEveryFault(t *testing.T) {
	page, err := os.ReadFile("../../docs/simulator.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range faultKinds() {
		if !strings.Contains(string(page), "`"+k.name+"`") && !strings.Contains(string(page), "`"+k.name+"[") && !strings.Contains(string(page), "`"+k.name+":") {
			t.Errorf("no fault %s in docs/simulator.md", k.name)
		}
	}
	for _, name := range causeNames() {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("no cause %s in docs/simulator.md", name)
		}
	}
}

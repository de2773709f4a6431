package runner

import "testing"

// TestBenchSaid: what a bench says of its end is shown as prose, not as JSON.
func TestBenchSaid(t *testing.T) {
	for line, want := range map[string]string{
		`{"error":"warm-up: all 1 requests failed, the first with: \"too long\"","type":"error"}`: `warm-up: all 1 requests failed, the first with: "too long"`,
		`{"type":"progress","done":3,"total":8}`:                                                  `{"type":"progress","done":3,"total":8}`,
		"signal: killed":                                                                          "signal: killed",
		"":                                                                                        "",
	} {
		if got := benchSaid([]byte(line)); got != want {
			t.Errorf("%s\n got %q\nwant %q", line, got, want)
		}
	}
}

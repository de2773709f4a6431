package sglang

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// unknownVersion stands for a version that nobody knows.
const unknownVersion = "unknown"

// releaseParts takes a Python version apart: the release, then a, b, rc or
// post, then dev. What follows a + is a build's own mark and orders nothing.
var releaseParts = regexp.MustCompile(`^v?(\d{1,6}(?:\.\d{1,6}){0,5})(?:[.-]?(a|b|rc|post)(\d{0,9}))?(?:\.?(dev)(\d{0,9}))?`)

// release is a Python version in an order that compares.
type release struct {
	numbers []int
	order   [4]int // stage, its number, 0 or -1 for a dev build of it, that one's number
}

var stages = map[string]int{"a": -3, "b": -2, "rc": -1, "": 0, "post": 1}

// devStage is where X.devN stands: before every X.
const devStage = -4

func parseRelease(s string) (release, bool) {
	m := releaseParts.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return release{}, false
	}
	var r release
	for part := range strings.SplitSeq(m[1], ".") {
		n, _ := strconv.Atoi(part) // six digits at most
		r.numbers = append(r.numbers, n)
	}
	r.order[0] = stages[m[2]]
	r.order[1], _ = strconv.Atoi(m[3]) // none is 0
	if m[4] != "" {
		r.order[2] = -1
		r.order[3], _ = strconv.Atoi(m[5])
		if m[2] == "" {
			r.order[0] = devStage
		}
	}
	return r, true
}

func (r release) compare(o release) int {
	return cmp.Or(slices.Compare(r.numbers, o.numbers), slices.Compare(r.order[:], o.order[:]))
}

// versionIn tells whether a version lies between two, both included. A version
// that cannot be read lies nowhere. An empty bound is none; a release as the
// upper one includes its post releases.
func versionIn(s, from, to string) bool {
	v, ok := parseRelease(s)
	if !ok {
		return false
	}
	if low, bound := parseRelease(from); bound && v.compare(low) < 0 {
		return false
	}
	if high, bound := parseRelease(to); bound && v.compare(high) > 0 {
		return high.order[0] == 0 && slices.Equal(v.numbers, high.numbers)
	}
	return true
}

// CompareVersions orders two versions of sglang as Python does; one that cannot
// be read comes first.
func CompareVersions(a, b string) int {
	ra, _ := parseRelease(a)
	rb, _ := parseRelease(b)
	return ra.compare(rb)
}

package sweep

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// text reads a scalar as text, exactly as it stands in the file.
func (d *decoder) text(n *yaml.Node, what string) (string, bool) {
	if n = d.follow(n); n == nil {
		return "", false
	}
	if n.Kind != yaml.ScalarNode || kindOf(n) == null {
		d.problem(n, "", "%s must be text, not %s", what, kindName(n))
		return "", false
	}
	if strings.ContainsRune(n.Value, 0) {
		d.problem(n, "remove it", "%s holds a NUL character, which no program can be given", what)
		return "", false
	}
	return n.Value, true
}

var integer = regexp.MustCompile(`^[0-9]+$`)

// whole reads a whole number between low and high.
func (d *decoder) whole(n *yaml.Node, what string, low, high int) (int, bool) {
	if n = d.follow(n); n == nil {
		return 0, false
	}
	if n.Kind != yaml.ScalarNode || kindOf(n) != number || !integer.MatchString(strings.TrimPrefix(n.Value, "-")) {
		d.problem(n, "write plain digits, without quotes, unit or exponent", "%s must be a whole number, not %s", what, kindName(n))
		return 0, false
	}
	v, err := strconv.Atoi(n.Value)
	if err != nil || v < low || v > high {
		d.problem(n, "", "%s must be between %d and %d, not %s", what, low, high, short(n.Value))
		return 0, false
	}
	return v, true
}

// duration reads a time with its unit; a bare number would leave us guessing.
func (d *decoder) duration(n *yaml.Node, what string) (time.Duration, bool) {
	if n = d.follow(n); n == nil {
		return 0, false
	}
	if n.Kind != yaml.ScalarNode || kindOf(n) == null {
		d.problem(n, "for example `90s`, `45m`, `1h30m`, `150ms`", "%s must be a duration, not %s", what, kindName(n))
		return 0, false
	}
	v, err := time.ParseDuration(n.Value)
	switch {
	case kindOf(n) == number:
		d.problem(n, "write the unit: `"+short(n.Value)+"s`, `"+short(n.Value)+"m`", "%s needs a unit, %s has none", what, short(n.Value))
		return 0, false
	case err != nil:
		d.problem(n, "for example `90s`, `45m`, `1h30m`, `150ms`", "%s must be a duration, not %s", what, kindName(n))
		return 0, false
	case v <= 0:
		d.problem(n, "write a longer one, or leave it out", "%s must be longer than nothing", what)
		return 0, false
	}
	return v, true
}

// maxName bounds every name that a person gives, in bytes.
const maxName = 64

var (
	fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	// labelName leaves out what --only and `axis=label,axis=label` need, and
	// everything that a shell or a file name would trip over.
	labelName = regexp.MustCompile(`^[A-Za-z0-9._+:@%-]+$`)
)

// named checks a name; it ends up in paths, tables and selections.
func (d *decoder) named(n *yaml.Node, name, what string, allowed *regexp.Regexp) bool {
	characters := "letters, digits and . _ -"
	if allowed == labelName {
		characters = "letters, digits and . _ - + : @ %"
	}
	switch {
	case name == "":
		d.problem(n, "use "+characters, "%s is empty", what)
	case len(name) > maxName:
		d.problem(n, "choose a shorter one", "%s is %d bytes long, more than %d", what, len(name), maxName)
	case !allowed.MatchString(name) || strings.Contains(name, ".."):
		d.problem(n, "use "+characters, "%s cannot be %s", what, quote(name))
	default:
		return true
	}
	return false
}

// label is the text of a scalar as a label: as it stands in the file, so that
// `on`, `2048` and `1e3` are labels; every form of nothing is "null".
func label(n *yaml.Node) string {
	if kindOf(n) == null {
		return "null"
	}
	return n.Value
}

var sizePattern = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([KMGT]i?B)$`)

// sizeUnit is in bytes; iB counts in 1024, B in 1000.
func sizeUnit(unit string) float64 {
	base := 1000.0
	if strings.Contains(unit, "i") {
		base = 1024
	}
	return math.Pow(base, float64(strings.IndexByte("KMGT", unit[0])+1))
}

// size reads an amount of memory with its unit, in bytes.
func (d *decoder) size(n *yaml.Node, what string) (int64, bool) {
	if n = d.follow(n); n == nil {
		return 0, false
	}
	if n.Kind == yaml.ScalarNode && kindOf(n) == number {
		d.problem(n, "write the unit: `"+short(n.Value)+"GiB`", "%s needs a unit, %s has none", what, short(n.Value))
		return 0, false
	}
	m := sizePattern.FindStringSubmatch(n.Value)
	if n.Kind != yaml.ScalarNode || m == nil {
		d.problem(n, "for example `80GiB`; the units are KiB, MiB, GiB, TiB and KB, MB, GB, TB", "%s must be a size, not %s", what, kindName(n))
		return 0, false
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if v *= sizeUnit(m[2]); err != nil || v < 1 || v > 1<<60 {
		d.problem(n, "", "%s cannot be %s", what, short(n.Value))
		return 0, false
	}
	return int64(v), true
}

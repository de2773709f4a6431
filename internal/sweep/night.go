package sweep

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"
	_ "time/tzdata" // a static binary on a bare host knows its zones
)

// Night bounds one go through a plan.
type Night struct {
	Deadline *Deadline     `json:"deadline,omitempty"` // nil: as long as it takes
	Cooldown time.Duration `json:"cooldown,omitempty"` // rest before each start
}

// Deadline is a time of day by which a night has to be over.
type Deadline struct {
	Hour   int    `json:"hour"`
	Minute int    `json:"minute"`
	Zone   string `json:"zone,omitempty"` // of the IANA list; "": the host's own
}

var (
	clockPattern = regexp.MustCompile(`^([01]?[0-9]|2[0-3]):([0-5][0-9])(?: +([^ ]+))?$`)
	clockLike    = regexp.MustCompile(`^[0-9]{1,2}:[0-9]{2}(?: +[^ ]+)?$`)
	zonePattern  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+/-]{0,63}$`)
)

// ParseDeadline reads a deadline as a sweep file has it, "07:00 Europe/Prague".
func ParseDeadline(text string) (Deadline, error) {
	d, wrong := parseDeadline(text, quote(text))
	if wrong != nil {
		return Deadline{}, errors.New(wrong.message + ": " + wrong.hint)
	}
	return d, nil
}

// deadlineProblem is what is wrong with a deadline, and what to do about it.
type deadlineProblem struct{ message, hint string }

// parseDeadline reads a deadline; given says what was given where it is none.
func parseDeadline(text, given string) (Deadline, *deadlineProblem) {
	m := clockPattern.FindStringSubmatch(text)
	if m == nil && clockLike.MatchString(text) {
		return Deadline{}, &deadlineProblem{"deadline is a time that no day has: " + given, `hours are 00 to 23, minutes 00 to 59: for example "07:00 Europe/Prague"`}
	}
	if m == nil {
		return Deadline{}, &deadlineProblem{"deadline must be a time of day and a time zone, not " + given, `for example "07:00 Europe/Prague"`}
	}
	d := Deadline{Zone: m[3]}
	d.Hour, _ = strconv.Atoi(m[1])
	d.Minute, _ = strconv.Atoi(m[2])
	if d.Zone == "" {
		return d, nil
	}
	// "Local" would be another zone on each machine that reads the plan.
	if _, err := time.LoadLocation(d.Zone); err != nil || d.Zone == "Local" || !zonePattern.MatchString(d.Zone) {
		return Deadline{}, &deadlineProblem{"there is no time zone " + quote(d.Zone), "write a name of the IANA list, like Europe/Prague or UTC, or leave it out for the host's own"}
	}
	return d, nil
}

// String is the deadline as a sweep file has it.
func (d Deadline) String() string {
	text := fmt.Sprintf("%02d:%02d", d.Hour, d.Minute)
	if d.Zone != "" {
		text += " " + d.Zone
	}
	return text
}

// After is the first moment after now at which it is that time of day in the
// deadline's zone; host is the zone that counts when it names none. A time that
// a clock change skips is as late as the change makes it.
func (d Deadline) After(now time.Time, host *time.Location) (time.Time, error) {
	zone := host
	if d.Zone != "" {
		var err error
		if zone, err = time.LoadLocation(d.Zone); err != nil {
			return time.Time{}, fmt.Errorf("the deadline %s: %w", d, err)
		}
	}
	year, month, day := now.In(zone).Date()
	for ; ; day++ {
		if at := time.Date(year, month, day, d.Hour, d.Minute, 0, 0, zone); at.After(now) {
			return at, nil
		}
	}
}

// Hooks are commands that run on the host, as lists of words; nil: none. What
// they print is recorded; the failure of one is the failure of its run.
type Hooks struct {
	BeforeNight []string `json:"before_night,omitempty"`
	BeforeRun   []string `json:"before_run,omitempty"`
	AfterRun    []string `json:"after_run,omitempty"`
	AfterNight  []string `json:"after_night,omitempty"`
}

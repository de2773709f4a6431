package sweep

import (
	"fmt"
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

package move

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
	"time"

	"sweep/internal/remote"
)

// movedName is the directory of moved nights, below STATE on both sides.
const movedName = "moved"

// Entry is all that is needed to find a moved night again. It holds no
// secrets, only their names.
type Entry struct {
	Schema    int       `json:"schema"`
	Key       string    `json:"key"`
	Name      string    `json:"name"` // of the sweep
	File      string    `json:"file"` // the sweep file, as it was named
	Started   time.Time `json:"started"`
	Runs      int       `json:"runs"`
	PlanHash  string    `json:"plan_hash"`
	Secrets   []string  `json:"secrets,omitempty"` // names of variables that a new start needs again
	Alias     string    `json:"alias"`             // how the host is reached: what remote.Target has
	Address   string    `json:"address,omitempty"`
	User      string    `json:"user,omitempty"`
	Sudo      bool      `json:"sudo,omitempty"`
	SSHConfig string    `json:"ssh_config,omitempty"`
	Dir       string    `json:"dir"`    // there: of plan and held processes
	Data      string    `json:"data"`   // there: of the records
	Binary    string    `json:"binary"` // there
	Held      int       `json:"held"`   // the last start, from 1
	Boot      string    `json:"boot"`   // boot id of the host at that start
	Home      string    `json:"home"`   // here: data directory that the records are brought to
	Night     string    `json:"night,omitempty"`
	Brought   []string  `json:"brought,omitempty"` // runs that ended and are at home
	Ended     bool      `json:"ended,omitempty"`   // and all of its records are at home
	Code      *int      `json:"code,omitempty"`    // exit code it ended with
}

// Target is how the host is reached.
func (e *Entry) Target() remote.Target {
	return remote.Target{Alias: e.Alias, Address: e.Address, User: e.User, Sudo: e.Sudo}
}

// Handle is the shortest sure name of it, for commands that a person is told.
func (e *Entry) Handle() string {
	if e.Night != "" {
		return e.Night
	}
	return e.Key
}

// NewKey names a night that is about to be moved.
func NewKey(name string, now time.Time) string {
	random := make([]byte, 2)
	_, _ = rand.Read(random) // never fails
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name)
	plain = plain[:min(len(plain), 40)]
	return now.UTC().Format("20060102-150405") + "-" + strings.Trim(plain, "-") + "-" + hex.EncodeToString(random)
}

// Find is the moved night that a person means: by its night's ID or its key,
// else by a beginning of one or the sweep's name; "" or "last" is any. Of
// several the one that is not over counts, then the latest: a night that went
// on has several entries. Nil where there is none.
func Find(entries []*Entry, name string) *Entry {
	var found, near *Entry
	for _, e := range entries { // newest last
		switch {
		case name != "" && (name == e.Key || name == e.Night):
			found = better(found, e)
		case name == "" || name == "last" || name == e.Name || strings.HasPrefix(e.Key, name) || strings.HasPrefix(e.Night, name):
			near = better(near, e)
		}
	}
	if found != nil {
		return found
	}
	return near
}

// better is the later of two, unless only the earlier one is under way.
func better(earlier, later *Entry) *Entry {
	if earlier != nil && !earlier.Ended && later.Ended {
		return earlier
	}
	return later
}

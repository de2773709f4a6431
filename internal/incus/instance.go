package incus

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Status of an instance, in the daemon's words. There are passing ones besides
// these (Starting, Stopping, Freezing, Error).
type Status string

// The lasting states of an instance.
const (
	Running Status = "Running"
	Stopped Status = "Stopped"
	Frozen  Status = "Frozen"
)

// Instance is the record of a container.
type Instance struct {
	Name      string                       `json:"name"`
	Status    Status                       `json:"status"`
	Config    map[string]string            `json:"config"` // its own, the profiles' not
	Devices   map[string]map[string]string `json:"devices"`
	Profiles  []string                     `json:"profiles"`
	Ephemeral bool                         `json:"ephemeral"`
	Created   time.Time                    `json:"created_at"`
}

// Instance returns one. ErrNotFound when there is none of that name.
func (c *Client) Instance(ctx context.Context, name string) (Instance, error) {
	var in Instance
	err := c.get(ctx, request{path: at("instances", name)}, &in)
	return in, c.failed(ctx, "look for the instance "+name, err)
}

// Instances returns those whose own config has all of the given keys with
// these values, in order of their names. An empty value means any: the key is
// there. ErrProject when the project is not there.
func (c *Client) Instances(ctx context.Context, config map[string]string) ([]Instance, error) {
	const op = "list the instances"
	query := url.Values{"recursion": {"1"}}
	if f := filter(config); f != "" {
		query.Set("filter", f)
	}
	var all []Instance
	if err := c.get(ctx, request{path: at("instances"), query: query}, &all); err != nil {
		return nil, c.failed(ctx, op, err)
	}
	if len(all) == 0 && c.project != DefaultProject {
		// A project that is not there has an empty list and no error.
		if err := c.CheckProject(ctx); err != nil {
			return nil, fail(op, err)
		}
	}
	// Looked at again here: it is by this list that things are removed.
	all = slices.DeleteFunc(all, func(in Instance) bool { return !in.has(config) })
	slices.SortFunc(all, func(a, b Instance) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func (in Instance) has(config map[string]string) bool {
	for k, want := range config {
		if got, there := in.Config[k]; !there || want != "" && got != want {
			return false
		}
	}
	return true
}

// plain is what the daemon's filter language takes as it is. It matches
// regular expressions and its quotes do not always close, so other values are
// only compared here.
var plain = regexp.MustCompile(`^[0-9A-Za-z_-]+$`)

var plainKey = regexp.MustCompile(`^[0-9A-Za-z_.-]+$`)

func filter(config map[string]string) string {
	var clauses []string
	for k, v := range config {
		if plain.MatchString(v) && plainKey.MatchString(k) {
			clauses = append(clauses, "config."+k+" eq "+v)
		}
	}
	slices.Sort(clauses)
	return strings.Join(clauses, " and ")
}

// Package check looks, before a night, whether the host, its containers, the
// model and the server's interpreter are what a plan needs: one bounded pass
// that changes nothing and leaves nothing behind. The same looks make the
// fingerprint that is kept with each measurement.
package check

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"sweep/internal/gpu"
	"sweep/internal/launch"
	"sweep/internal/sweep"
)

// Grade is how a check ended.
type Grade string

// The grades.
const (
	OK   Grade = "ok"
	Note Grade = "note" // worth knowing, nothing to mend
	Warn Grade = "warn" // the night can run, and may not be what was meant
	Fail Grade = "fail" // runs would fail, or measure something else
)

// Group is what a check is about.
type Group string

// The groups, in the order they are shown in.
const (
	Host      Group = "host"
	Container Group = "container"
	GPUs      Group = "GPUs"
	ModelOf   Group = "model"
	Server    Group = "server"
	Ports     Group = "ports"
	Storage   Group = "storage"
)

var groups = []Group{Host, Container, GPUs, ModelOf, Server, Ports, Storage}

// Result is one line of a report.
type Result struct {
	Group   Group  `json:"group"`
	Grade   Grade  `json:"grade"`
	What    string `json:"what"`
	Finding string `json:"finding"`
	Remedy  string `json:"remedy,omitempty"` // what to do; "" where nothing is
}

// Report is all that a check found, in a stable order.
type Report struct {
	Schema  int      `json:"schema"`
	Plan    string   `json:"plan"`
	Host    string   `json:"host"` // its own name
	Results []Result `json:"results"`
	Fails   int      `json:"fails"`
	Warns   int      `json:"warns"`
	Seconds float64  `json:"seconds"`
}

// Options are what a check needs of this host.
type Options struct {
	Runtime  func(context.Context) (launch.Runtime, error) // makes the plan's runtime; asked once
	Tools    Tools                                         // of the same runtime
	Command  gpu.Commander                                 // runs commands on the host
	LockPath string                                        // the host's lock for sweeps
	StateDir string                                        // of sweep on this host
	DataDir  string                                        // where records will be kept; "": not on this host
	// HasSecret tells whether a variable of server.secrets is set; nil where
	// they are brought only when the night begins.
	HasSecret func(name string) bool
	// Kept tells whether an instance was launched to stay; nil where none is.
	Kept func(launch.Instance) bool
	// Others are the host's other runtimes, in which something of an earlier
	// sweep may be; nil where there are none. Asked once.
	Others func(context.Context) []launch.Runtime
}

// Times of the parts. Making a container is apart: it may copy gigabytes.
const (
	hostTime = 50 * time.Second
	makeTime = 3 * time.Minute
	lookTime = 55 * time.Second
)

// maxPlaces bounds the containers, and the servers in each, that are looked at.
const maxPlaces = 8

// Run checks a plan on this host. The error is ctx's, when a person stopped it:
// what it had made is removed first. All else is in the report.
func Run(ctx context.Context, plan *sweep.Plan, o Options) (*Report, error) {
	began := time.Now()
	c := &checker{plan: plan, o: o}
	c.rt, c.rtErr = o.Runtime(ctx)
	if c.rtErr == nil {
		c.rt = launch.Bounded(c.rt)
	}
	owner, held := lockHolder(o.LockPath)
	hostCtx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	items := []func() []Result{
		func() []Result { return c.tool(hostCtx) },
		func() []Result { return c.lock(hostCtx, owner, held) },
		func() []Result { return c.clockAndSecrets() },
		func() []Result { return c.cards(hostCtx) },
		func() []Result { return c.links(hostCtx) },
		func() []Result { return c.disks() },
		func() []Result { return c.flagsBySimulator() },
	}
	places := placesOf(plan)
	switch {
	case held:
		items = append(items, func() []Result {
			return []Result{{Container, Note, "container", "not looked at: that would disturb the sweep that is measuring", "check again when it is done"}}
		})
	case c.rtErr != nil: // said by tool
	default:
		for i, p := range places[:min(len(places), maxPlaces)] {
			items = append(items, func() []Result { return c.place(ctx, i, p, len(places) > 1) })
		}
		if more := len(places) - maxPlaces; more > 0 {
			items = append(items, func() []Result {
				return []Result{{Container, Warn, "containers", fmt.Sprintf("%d more were not looked at", more), "check them with --only"}}
			})
		}
	}
	r := &Report{Schema: sweep.Schema, Plan: plan.Name, Host: hostname(), Results: together(items)}
	for _, x := range r.Results {
		switch x.Grade {
		case Fail:
			r.Fails++
		case Warn:
			r.Warns++
		}
	}
	r.Seconds = time.Since(began).Seconds()
	return r, ctx.Err()
}

// together does all items at once and returns what they found by group, in the
// order of the items, each line once.
func together(items []func() []Result) []Result {
	found := make([][]Result, len(items))
	var wait sync.WaitGroup
	for i, item := range items {
		wait.Go(func() { found[i] = item() })
	}
	wait.Wait()
	all := slices.Concat(found...)
	seen := map[Result]bool{}
	all = slices.DeleteFunc(all, func(r Result) bool {
		before := seen[r]
		seen[r] = true
		return before
	})
	slices.SortStableFunc(all, func(a, b Result) int {
		return cmp.Compare(slices.Index(groups, a.Group), slices.Index(groups, b.Group))
	})
	for i := range all {
		all[i].What, all[i].Finding, all[i].Remedy = sweep.Printable(all[i].What), sweep.Printable(all[i].Finding), sweep.Printable(all[i].Remedy)
	}
	return all
}

type checker struct {
	plan  *sweep.Plan
	o     Options
	rt    launch.Runtime
	rtErr error
}

// spot is one container of a plan, and the distinct servers that it asks for
// there: configurations that have the same command, environment and model.
type spot struct {
	container sweep.Container
	servers   [][]sweep.Configuration
}

// placesOf are the containers of a plan, in its order.
func placesOf(plan *sweep.Plan) []spot {
	var all []spot
	at, server := map[string]int{}, map[string]int{}
	for _, c := range plan.Configurations {
		key := keyOf(c.Container)
		i, known := at[key]
		if !known {
			i = len(all)
			at[key], all = i, append(all, spot{container: c.Container})
		}
		key += keyOf([]any{c.Command, c.Environ(), c.Unset(), c.EnvFile, ModelName(c)})
		j, known := server[key]
		if !known {
			j = len(all[i].servers)
			server[key], all[i].servers = j, append(all[i].servers, nil)
		}
		all[i].servers[j] = append(all[i].servers[j], c)
	}
	return all
}

func keyOf(v any) string {
	text, _ := json.Marshal(v) // plain data
	return string(text)
}

// simulated tells whether a server is this binary's own simulator.
func simulated(c sweep.Configuration) bool { return c.Command[0] == "sweep" }

// onlySimulated tells whether no server of a plan is a real one.
func onlySimulated(plan *sweep.Plan) bool {
	return !slices.ContainsFunc(plan.Configurations, func(c sweep.Configuration) bool { return !simulated(c) })
}

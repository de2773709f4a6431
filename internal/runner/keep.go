package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sweep/internal/check"
	"sweep/internal/launch"
	"sweep/internal/store"
	"sweep/internal/sweep"
)

// keptLabel is on an instance whose server a person launched to stay; its value
// is the configuration's name. No sweep ends it, and `sweep clean` only by name.
const keptLabel = "kept"

// Kept tells whether an instance was launched to stay.
func Kept(in launch.Instance) bool { return in.Labels[keptLabel] != "" }

// Launched is a server that was started to stay.
type Launched struct {
	Instance launch.Instance
	URL      string // as this host reaches it, or from inside the container
	Inside   bool   // the URL is one inside the container
	Ready    launch.Readiness
}

// Launch starts the one configuration of a plan, waits until it serves, and
// leaves it. On the way to that, whatever ends it, nothing is left behind.
func Launch(ctx context.Context, plan *sweep.Plan, o Options, progress func(launch.Progress)) (l Launched, err error) {
	if len(plan.Configurations) != 1 {
		return l, fmt.Errorf("launch: the plan has %d configurations, not one", len(plan.Configurations))
	}
	unlock, err := lockHost(LockPath(o.StateDir))
	if err != nil {
		return l, err
	}
	defer unlock()
	o.bound()
	c := plan.Configurations[0]
	n := &nightRun{Options: o, plan: plan}
	a := &attempt{nightRun: n, planned: plan.Runs[0], config: c, record: sweep.Record{Attempt: 1, Configuration: c, Argv: plan.Runs[0].Argv, Port: plan.Runs[0].Port}}
	if err := n.refuseKept(ctx); err != nil {
		return l, err
	}
	if failure := a.checkGPUs(ctx); failure != nil {
		return l, fmt.Errorf("%w: %s: %s", ErrHost, failure.Cause.Line, failure.Cause.Hint)
	}
	name := "sweep-kept-" + strings.ToLower(c.ID)
	defer func() {
		if err != nil {
			err = errors.Join(err, o.Runtime.Destroy(context.WithoutCancel(ctx), launch.Instance{Name: name}))
		}
	}()
	in, err := o.Runtime.Create(ctx, launch.InstanceSpec{Name: name, Origin: check.OriginOf(c.Container), Labels: map[string]string{"sweep": "launch", "id": c.ID, keptLabel: c.Name}})
	if err != nil {
		return l, fmt.Errorf("%w: %w", ErrHost, err)
	}
	a.instance = in
	if failure := a.checkModel(ctx); failure != nil {
		return l, fmt.Errorf("%s: %s", failure.Cause.Line, failure.Cause.Hint)
	}
	spec := a.serverSpec()
	if spec.Env, err = a.environment(ctx); err != nil {
		return l, err
	}
	server, err := launch.StartServer(ctx, o.Runtime, in, spec)
	if err != nil {
		return l, err
	}
	ready, err := server.WaitReady(ctx, progress)
	if err != nil {
		return l, err
	}
	l = Launched{Instance: in, URL: server.URL(), Ready: ready}
	if host, ok := launch.AddressOf(ctx, o.Runtime, in); ok {
		l.URL = fmt.Sprintf("http://%s:%d", host, a.record.Port)
	} else {
		l.Inside = !in.OnHost
	}
	return l, nil
}

// refuseKept refuses to touch GPUs that a server which was launched to stay
// may hold.
func (n *nightRun) refuseKept(ctx context.Context) error {
	needs := false
	for i := range n.plan.Configurations {
		needs = needs || n.plan.Configurations[i].Command[0] != "sweep"
	}
	if !needs {
		return nil
	}
	instances, err := n.Runtime.List(ctx)
	if err != nil {
		return fmt.Errorf("%w: list what is kept here: %w", ErrHost, err)
	}
	for _, rt := range n.Others {
		if some, err := rt.List(ctx); err == nil { // the GPUs tell whether one that cannot be asked matters
			instances = append(instances, some...)
		}
	}
	for _, in := range instances {
		if Kept(in) {
			return fmt.Errorf("%w: the server %s was launched to stay and may hold the GPUs: `sweep clean local %s --yes` ends it", ErrHost, in.Labels[keptLabel], in.Name)
		}
	}
	return nil
}

// passKept says that an instance stays because it was launched to stay.
func (n *nightRun) passKept(in launch.Instance) error {
	return n.say(store.Event{Type: store.Leftover, Name: in.Name, Text: "kept: " + in.Labels[keptLabel] + " was launched to stay; it may disturb what is measured here"})
}

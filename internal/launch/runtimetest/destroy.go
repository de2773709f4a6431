package runtimetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sweep/internal/launch"
	"sweep/internal/supervise"
)

func destroyAnyTime(ctx context.Context, rt launch.Runtime) error {
	in := launch.Instance{Name: unique()}
	if err := rt.Destroy(ctx, in); err != nil {
		return fmt.Errorf("destroy before create: %w", err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := rt.Create(gone, launch.InstanceSpec{Name: in.Name, Labels: labels()}); err == nil {
		// Quick enough not to notice; what matters is that it can be destroyed.
		if err := rt.Destroy(ctx, in); err != nil {
			return fmt.Errorf("destroy after a create whose context had ended: %w", err)
		}
	} else if err := rt.Destroy(ctx, in); err != nil {
		return fmt.Errorf("destroy after a failed create: %w", err)
	}
	if _, err := rt.Create(ctx, launch.InstanceSpec{Name: in.Name, Labels: labels()}); err != nil {
		return fmt.Errorf("create after destroy: %w", err)
	}
	for _, when := range []string{"first", "second"} {
		if err := rt.Destroy(ctx, in); err != nil {
			return fmt.Errorf("%s destroy: %w", when, err)
		}
		list, err := rt.List(ctx)
		if err != nil {
			return fmt.Errorf("list: %w", err)
		}
		if slices.ContainsFunc(list, func(i launch.Instance) bool { return i.Name == in.Name }) {
			return errors.New("still listed after destroy")
		}
	}
	if res, err := rt.Exec(ctx, in, launch.Cmd{Argv: []string{"/bin/true"}}); err == nil {
		return fmt.Errorf("exec in a destroyed instance gives %+v and no error", res)
	}
	return nil
}

// stubborn is a script whose tree ignores TERM and has a member that lost its
// parent and made a session of its own, with the agent that is $2; each of the
// two carries $1.
const stubborn = `trap "" TERM
("$2" setsid sh -c 'trap "" TERM; while :; do sleep 1; done' "$1" &)
while :; do sleep 1; done`

func destroyEndsTrees(ctx context.Context, rt launch.Runtime) error {
	marker := unique()
	err := withInstance(ctx, rt, func(in launch.Instance) error {
		for _, id := range []string{"one", "two"} {
			_, err := launch.Hold(ctx, rt, in, supervise.Spec{ID: id, Grace: 100 * time.Millisecond,
				Argv: []string{"/bin/sh", "-c", stubborn, "sh", marker, in.Bin}, Env: barePath()})
			if err != nil {
				return err
			}
		}
		return untilMarked(ctx, marker, 4)
	})
	// Destroy returns when everything is gone: looked at once, not waited for.
	if left := Marked(marker); len(left) > 0 {
		err = errors.Join(err, fmt.Errorf("processes %v live after destroy", left))
	}
	return err
}

func barePath() []string { return []string{"PATH=/usr/local/bin:/usr/bin:/bin"} }

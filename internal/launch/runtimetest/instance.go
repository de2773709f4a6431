package runtimetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"sweep/internal/launch"
)

func instanceChecks() []Check {
	return []Check{
		inInstance("an instance says where things are", func(_ context.Context, _ launch.Runtime, in launch.Instance) error {
			if in.Name == "" || in.Dir == "" || in.Dir[0] != '/' || in.Bin == "" || in.Bin[0] != '/' || in.Address == "" || in.Created.IsZero() {
				return fmt.Errorf("something is missing or not absolute in %+v", in)
			}
			return nil
		}),
		{"an instance is labelled from the beginning", labelledFromTheBeginning},
		inInstance("create twice gives the same instance", createTwice),
		{"create at once by several gives one instance", createAtOnce},
		{"a bad name is refused", badNames},
		{"a foreign instance is left alone", foreignLeftAlone},
		{"list is sorted and complete", listSorted},
		{"destroy may come early, late and twice", destroyAnyTime},
		{"destroy ends every held tree", destroyEndsTrees},
	}
}

// labelledFromTheBeginning looks while the instance is being made: one that
// shows up without its labels would be left behind for ever by a crash.
func labelledFromTheBeginning(ctx context.Context, rt launch.Runtime) error {
	spec := launch.InstanceSpec{Name: unique(), Labels: labels()}
	created := make(chan error, 1)
	go func() {
		_, err := rt.Create(ctx, spec)
		created <- err
	}()
	err := func() error {
		for done := false; ; {
			list, err := rt.List(ctx)
			if err != nil {
				return fmt.Errorf("list: %w", err)
			}
			at := slices.IndexFunc(list, func(in launch.Instance) bool { return in.Name == spec.Name })
			if at >= 0 && !maps.Equal(list[at].Labels, spec.Labels) {
				return fmt.Errorf("listed with the labels %v, want %v", list[at].Labels, spec.Labels)
			}
			if done {
				if at < 0 {
					return errors.New("not listed after its create")
				}
				return nil
			}
			select {
			case err := <-created:
				if err != nil {
					return fmt.Errorf("create: %w", err)
				}
				done = true
			default:
			}
		}
	}()
	return errors.Join(err, destroy(ctx, rt, launch.Instance{Name: spec.Name}))
}

func createTwice(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	again, err := rt.Create(ctx, launch.InstanceSpec{Name: in.Name, Labels: labels()})
	if err != nil {
		return fmt.Errorf("second create: %w", err)
	}
	return same(in, again)
}

func same(a, b launch.Instance) error {
	if a.Name != b.Name || a.Dir != b.Dir || a.Bin != b.Bin || a.Address != b.Address || !a.Created.Equal(b.Created) || !maps.Equal(a.Labels, b.Labels) {
		return fmt.Errorf("one call gives %+v, another %+v", a, b)
	}
	return nil
}

func createAtOnce(ctx context.Context, rt launch.Runtime) error {
	spec := launch.InstanceSpec{Name: unique(), Labels: labels()}
	made, errs := make([]launch.Instance, 4), make([]error, 4)
	var wg sync.WaitGroup
	for i := range made {
		wg.Go(func() { made[i], errs[i] = rt.Create(ctx, spec) })
	}
	wg.Wait()
	for i := range made {
		if errs[i] == nil {
			errs[i] = same(made[0], made[i])
		}
	}
	return errors.Join(append(errs, destroy(ctx, rt, launch.Instance{Name: spec.Name}))...)
}

func badNames(ctx context.Context, rt launch.Runtime) error {
	for _, name := range []string{"", ".", "..", "../x", "a/b", "a b", "a_b", "-a", "a\n", "ä"} {
		if in, err := rt.Create(ctx, launch.InstanceSpec{Name: name}); err == nil {
			return errors.Join(fmt.Errorf("%q was taken: %+v", name, in), rt.Destroy(ctx, in))
		}
	}
	return nil
}

func foreignLeftAlone(ctx context.Context, rt launch.Runtime) (err error) {
	maker, ok := rt.(ForeignMaker)
	if !ok {
		return errSkip
	}
	name := unique()
	there, remove, err := maker.MakeForeign(ctx, name)
	if err != nil {
		return fmt.Errorf("make a foreign instance: %w", err)
	}
	defer func() { err = errors.Join(err, remove()) }()
	if in, err := rt.Create(ctx, launch.InstanceSpec{Name: name, Labels: labels()}); err == nil {
		return fmt.Errorf("create took a foreign instance over: %+v", in)
	}
	list, err := rt.List(ctx)
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	if len(list) != 0 && slices.ContainsFunc(list, func(in launch.Instance) bool { return in.Name == name }) {
		return fmt.Errorf("a foreign instance is listed: %+v", list)
	}
	// It may say so or not, but whatever registered a cleanup before a create
	// that was refused must not remove somebody's container.
	_ = rt.Destroy(ctx, launch.Instance{Name: name})
	if !there() {
		return errors.New("destroy removed a foreign instance")
	}
	return nil
}

func listSorted(ctx context.Context, rt launch.Runtime) (err error) {
	base := unique()
	want := []string{base + "-a", base + "-b", base + "-c"}
	for _, i := range []int{2, 0, 1} {
		defer func() { err = errors.Join(err, destroy(ctx, rt, launch.Instance{Name: want[i]})) }()
		if _, err := rt.Create(ctx, launch.InstanceSpec{Name: want[i], Labels: labels()}); err != nil {
			return fmt.Errorf("create: %w", err)
		}
	}
	list, err := rt.List(ctx)
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	var got []string
	for _, in := range list {
		if slices.Contains(want, in.Name) {
			got = append(got, in.Name)
		}
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("listed %q, want %q", got, want)
	}
	return nil
}

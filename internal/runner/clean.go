package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"sweep/internal/launch"
)

// Clean ends and removes what sweeps that died left on this host, in every
// runtime that is given by its kind; with dry set it only returns what it would
// end; otherwise what it ended. With a name only that instance is meant, and one
// that was launched to stay is ended only so: otherwise it is returned and
// left. It ends nothing while a sweep runs here: that is refused. What one
// runtime cannot say does not keep the others from being cleaned.
func Clean(ctx context.Context, runtimes map[string]launch.Runtime, stateDir, name string, dry bool) ([]launch.Instance, error) {
	if !dry {
		unlock, err := lockHost(LockPath(stateDir))
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	var found []launch.Instance
	var failed []error
	for _, kind := range slices.Sorted(maps.Keys(runtimes)) {
		rt := launch.Bounded(runtimes[kind])
		instances, err := rt.List(ctx)
		if err != nil {
			failed = append(failed, fmt.Errorf("%w: list what sweeps left in the runtime %s: %w", ErrHost, kind, err))
			continue
		}
		for _, in := range instances {
			if name != "" && in.Name != name {
				continue
			}
			if dry || name == "" && Kept(in) {
				found = append(found, in)
				continue
			}
			if err := rt.Destroy(ctx, in); err != nil {
				failed = append(failed, fmt.Errorf("%w: end %s: %w", ErrHost, in.Name, err))
				continue
			}
			found = append(found, in)
		}
	}
	if name != "" && len(found)+len(failed) == 0 {
		failed = append(failed, fmt.Errorf("there is no %s of sweep's on this host; `sweep clean` shows what there is", name))
	}
	return found, errors.Join(failed...)
}

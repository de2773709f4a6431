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
// end; otherwise what it ended. It refuses while a sweep runs here. What one
// runtime cannot say does not keep the others from being cleaned.
func Clean(ctx context.Context, runtimes map[string]launch.Runtime, stateDir string, dry bool) ([]launch.Instance, error) {
	unlock, err := lockHost(LockPath(stateDir))
	if err != nil {
		return nil, err
	}
	defer unlock()
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
			if dry {
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
	return found, errors.Join(failed...)
}

package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"sweep/internal/supervise"
)

// Destroy ends every process held in the instance, each with its own grace,
// then removes the directory. It refuses what sweep did not make.
func (p *Process) Destroy(ctx context.Context, in Instance) error {
	if err := p.destroy(ctx, in.Name); err != nil {
		return fmt.Errorf("destroy instance %s: %w", in.Name, err)
	}
	return nil
}

func (p *Process) destroy(ctx context.Context, name string) error {
	dir, err := p.dir(name)
	if err != nil {
		return err
	}
	gone := filepath.Join(filepath.Dir(dir), ".gone-"+name)
	if _, err := p.read(ctx, name); errors.Is(err, fs.ErrNotExist) {
		return os.RemoveAll(gone) // of a Destroy that was killed half-way
	} else if err != nil {
		return err
	}
	if err := stopAllHeld(ctx, filepath.Join(dir, heldDir)); err != nil {
		return err
	}
	// Renamed first: half removed it would no longer be known as ours.
	if err := os.RemoveAll(gone); err != nil {
		return err
	}
	if err := os.Rename(dir, gone); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(gone)
}

// stopAllHeld stops what is held in dir until nothing new comes.
func stopAllHeld(ctx context.Context, dir string) error {
	stopped := map[string]bool{}
	for {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		var stops []func() error
		for _, entry := range entries {
			if id := entry.Name(); entry.IsDir() && !stopped[id] {
				stopped[id] = true
				stops = append(stops, func() error {
					_, err := supervise.Stop(ctx, filepath.Join(dir, id), 0)
					return err
				})
			}
		}
		if len(stops) == 0 {
			return nil
		}
		if err := together(stops); err != nil {
			return err
		}
	}
}

// together calls all at once and joins their errors.
func together(calls []func() error) error {
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() { errs[i] = call() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

package main

import (
	"cmp"
	"fmt"
	"os"
	"os/user"
	"path/filepath"

	"github.com/adrg/xdg"
	"github.com/urfave/cli/v2"

	"sweep/internal/runner"
	"sweep/internal/store"
)

// findHome makes sure that there is a home directory: services and `env -i`
// set none, and everything would be kept below the root directory.
func findHome() error {
	if home := os.Getenv("HOME"); home != "" && !filepath.IsAbs(home) {
		return usage("HOME is %q, which is no absolute path: set it right", home)
	} else if home != "" {
		return nil
	}
	me, err := user.Current()
	if err != nil || !filepath.IsAbs(me.HomeDir) {
		return usage("HOME is not set and no home directory is known for this user: set HOME")
	}
	if err := os.Setenv("HOME", me.HomeDir); err != nil {
		return fmt.Errorf("set HOME: %w", err)
	}
	xdg.Reload()
	return nil
}

// dataFlag says where records are kept.
func dataFlag() cli.Flag {
	return &cli.StringFlag{Name: "data", EnvVars: []string{"SWEEP_DATA"}, Usage: "where nights and runs are kept",
		DefaultText: "$XDG_DATA_HOME/sweep"}
}

// dataDir is where records are kept; an empty SWEEP_DATA is none.
func dataDir(c *cli.Context) string {
	return cmp.Or(c.String("data"), filepath.Join(xdg.DataHome, "sweep"))
}

func openStore(c *cli.Context) (*store.Dir, error) {
	dir, err := store.Open(dataDir(c))
	if err != nil {
		return nil, fmt.Errorf("%w: open the data directory: %w; --data names another", runner.ErrHost, err)
	}
	return dir, nil
}

// stateDir is where this host's lock and the held processes are.
func stateDir() string { return filepath.Join(xdg.StateHome, "sweep") }

// cacheDir is where hash-named copies of this binary are.
func cacheDir() string { return filepath.Join(xdg.CacheHome, "sweep") }

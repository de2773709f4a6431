package main

import "github.com/urfave/cli/v2"

// onlyFlag selects configurations, in the same words on every command that has
// some.
func onlyFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "only", Usage: "only the configurations that `match`: axis=label,axis=label, a name, or baseline; given twice, either"}
}

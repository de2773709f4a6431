// Command agent is the part of sweep that runs in containers, for the contract
// suite, and nothing else.
package main

import (
	"fmt"
	"os"

	"sweep/internal/launch/runtimetest"
)

func main() {
	runtimetest.Agent(os.Args[1:])
	fmt.Fprintln(os.Stderr, "usage: agent supervise|inside …")
	os.Exit(2)
}

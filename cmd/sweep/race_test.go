//go:build race

package main

// raceFlag builds the program under test with the race detector as well.
var raceFlag = []string{"-race"}

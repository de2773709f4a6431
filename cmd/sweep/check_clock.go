package main

import (
	"fmt"
	"time"

	"sweep/internal/move"
)

// clockApart is by how much two clocks may differ before it is said: less than
// that, nobody sees when times of two machines are laid side by side.
const clockApart = 2 * time.Second

// sayClock tells a person when another host's clock is not this machine's.
func sayClock(s streams, place *move.Place) {
	if line := clockLine(place.Name(), place.Ahead()); line != "" {
		tell(s.err, "sweep: "+line)
	}
}

// clockLine says how far a host's clock is ahead; "" when that is too little
// to matter.
func clockLine(host string, ahead time.Duration) string {
	way := "ahead of"
	if ahead < 0 {
		ahead, way = -ahead, "behind"
	}
	if ahead <= clockApart {
		return ""
	}
	return fmt.Sprintf("the clock of %s is %s %s this machine's: times of records are the host's", printable(host), short(ahead), way)
}

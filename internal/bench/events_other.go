//go:build !linux

package bench

import (
	"context"
	"errors"
)

// haveEvents tells whether this system has event loops.
const haveEvents = false

func openEvents(context.Context, endpoint, int) (transport, error) {
	return nil, errors.ErrUnsupported
}

// localPorts is how many connections to one server this system has ports for; -1: not known.
func localPorts() int { return -1 }

package remote

import (
	"errors"
	"fmt"
)

// ErrLost is a connection that ended while a command ran. Whether the command
// took effect, and whether it still runs, is not known: look before it is run
// again.
var ErrLost = errors.New("the connection was lost")

// SignalError is a program that a signal ended.
type SignalError struct {
	Command string
	Signal  string // KILL, TERM, …
}

func (e *SignalError) Error() string { return e.Command + ": ended by signal " + e.Signal }

// StartError is a command whose program never started: the login shell, cd or
// sudo ended first.
type StartError struct {
	Host    string
	Command string
	Sudo    bool
	Code    int
	Said    string // what was printed instead, cleaned
}

func (e *StartError) Error() string {
	said := e.Said
	if said == "" {
		said = fmt.Sprintf("nothing was printed, exit code %d", e.Code)
	}
	if e.Sudo {
		return fmt.Sprintf("%s: %s: sudo does not run it without a password: %s; allow it in sudoers (USER ALL=(ALL) NOPASSWD: ALL), or log in as root",
			e.Host, e.Command, said)
	}
	return fmt.Sprintf("%s: %s: the login shell did not come to it: %s", e.Host, e.Command, said)
}

// ExitError is a program that ended with a code other than 0, where that is a
// failure.
type ExitError struct {
	Host    string
	Command string
	Code    int
	Stderr  string // the end of it, cleaned
}

func (e *ExitError) Error() string {
	text := fmt.Sprintf("%s: %s: exit code %d", e.Host, e.Command, e.Code)
	switch e.Code {
	case 126:
		text += " (it may not be executed)"
	case 127:
		text += " (there is no such program)"
	}
	if e.Stderr != "" {
		text += ": " + e.Stderr
	}
	return text
}

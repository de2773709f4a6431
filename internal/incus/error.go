package incus

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// What an [*Error] can be, for errors.Is.
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("the name is taken")
	ErrImage    = errors.New("there is no such image")
	ErrProject  = errors.New("there is no such project")
	ErrRunning  = errors.New("the instance is running")
	ErrStopped  = errors.New("the instance is not running")
	ErrFrozen   = errors.New("the instance is frozen")
	ErrBusy     = errors.New("the instance is busy with another operation")
	ErrPoolFull = errors.New("no space left")
	ErrNotFile  = errors.New("not a regular file")

	// ErrShuttingDown: the daemon refuses because it is going down or not up
	// yet. Nothing was done.
	ErrShuttingDown = errors.New("the Incus daemon is shutting down or starting")
	// ErrUnreachable: no daemon took the request. Nothing was done.
	ErrUnreachable = errors.New("the Incus daemon cannot be reached")
	// ErrUnknown: the daemon was lost after the request was sent, and looking
	// at the instance did not show that it was done. It may or may not have been.
	ErrUnknown = errors.New("whether it was done is not known")
	// ErrAnswer: what answered is broken off, too big, or not Incus.
	ErrAnswer = errors.New("not an answer of Incus")
)

// Error is a failed call.
type Error struct {
	Op   string // what was being done, to what: "start instance x"
	Code int    // the daemon's error code, 0 when it did not answer
	Text string // its words, cleaned and bounded; a hint for people, no more
	Kind error  // one of the errors above, or the cause below; nil when none fits

	status int // of HTTP: 200 when an operation failed rather than the call
}

func (e *Error) Error() string {
	s := e.Op
	if e.Kind != nil {
		s += ": " + e.Kind.Error()
	}
	if e.Text != "" {
		s += ": " + e.Text
	}
	if e.Code != 0 {
		s += fmt.Sprintf(" (incus error %d)", e.Code)
	}
	return s
}

// Unwrap gives what errors.Is compares.
func (e *Error) Unwrap() error { return e.Kind }

// fail makes an Error of whatever a lower call returned.
func fail(op string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		copied := *e
		copied.Op = op
		return &copied
	}
	return &Error{Op: op, Kind: err}
}

// hints maps words of the daemon to what they mean. They are used where no
// look could tell, and a daemon with other words only loses the kind.
var hints = []struct {
	words string // lower case
	kind  error
}{
	{"no space left on device", ErrPoolFull},
	{"disk quota exceeded", ErrPoolFull},
	{"unique constraint failed: instances", ErrExists},
	{"image not provided for instance creation", ErrImage},
	{"project not found", ErrProject},
	{"instance is busy running", ErrBusy},
	{"instance is frozen", ErrFrozen},
	{"instance is not running", ErrStopped},
}

// refused is the error of an answer that says no.
func refused(code int, text string) *Error {
	e := &Error{Code: code, Text: clean(text)}
	switch code {
	case 404:
		e.Kind = ErrNotFound
	case 503:
		e.Kind = ErrShuttingDown
	}
	lower := strings.ToLower(text)
	for _, h := range hints {
		if strings.Contains(lower, h.words) {
			e.Kind = h.kind
			break
		}
	}
	return e
}

// maxText bounds what is kept of a foreign text, in bytes.
const maxText = 400

// clean makes a foreign text fit for a terminal and for one line: control
// characters and what cannot be shown become spaces.
func clean(text string) string {
	if len(text) > 4*maxText {
		text = text[:4*maxText]
	}
	shown := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, text)
	shown = strings.Join(strings.Fields(shown), " ")
	if len(shown) > maxText {
		shown = strings.ToValidUTF8(shown[:maxText], "") + "…"
	}
	return shown
}

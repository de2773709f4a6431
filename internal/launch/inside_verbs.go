package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"syscall"
	"time"
)

// portReport is what `sweep inside port N` prints.
type portReport struct {
	Open   bool   `json:"open"`   // something accepts connections on loopback
	Holder string `json:"holder"` // who listens there on any address; "": nobody
}

// tellPort looks at a port from inside.
func tellPort(ctx context.Context, word string, stdout io.Writer) error {
	port, err := strconv.Atoi(word)
	if err != nil {
		return fmt.Errorf("the port %q is no number", word)
	}
	var r portReport
	const loopback = "127.0.0.1"
	if r.Open, err = dialPort(ctx, loopback, port); err != nil {
		return err
	}
	if r.Holder, err = portHolder(ctx, loopback, port); err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(r)
}

// Exit codes of `sweep inside http`, beside 0 and 1.
const (
	httpRefused = 3 // nobody listens
	httpBroken  = 4 // the connection broke before the answer was whole
)

// passRequest sends one raw HTTP request to a port of this container and
// copies what comes back.
func passRequest(ctx context.Context, word string, stdin io.Reader, stdout io.Writer) error {
	var d net.Dialer
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", word))
	if errors.Is(err, syscall.ECONNREFUSED) {
		return exitError{httpRefused, err}
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.Copy(conn, stdin); err != nil {
		return exitError{httpBroken, err}
	}
	if _, err := io.Copy(stdout, conn); err != nil {
		return exitError{httpBroken, err}
	}
	return nil
}

// exitError is an error with an exit code of its own.
type exitError struct {
	code int
	error
}

// clearShm removes shared memory that servers left since a time, and prints
// what could not be removed, as a JSON list.
func clearShm(word string, stdout io.Writer) error {
	since, err := time.Parse(time.RFC3339, word)
	if err != nil {
		return fmt.Errorf("the time %q: %w", word, err)
	}
	_, left := removeShm(shmDir, since)
	return json.NewEncoder(stdout).Encode(left)
}

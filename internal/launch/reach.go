package launch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

// reach is how the ports and the shared memory of an instance are reached.
type reach interface {
	// open reports whether something accepts connections on a port.
	open(ctx context.Context, port int) (bool, error)
	// holder says who holds a port, "" when it is free.
	holder(ctx context.Context, port int) (string, error)
	// transport carries requests to a port; nil: it is dialled as it is.
	transport(port int) http.RoundTripper
	// clearShm removes what a server left in shared memory, and says what it
	// could not.
	clearShm(ctx context.Context, since time.Time) []string
}

func reachOf(rt Runtime, in Instance) reach {
	if in.OnHost {
		return reachHost{in.Address}
	}
	return reachInside{rt, in}
}

// reachHost is this machine itself.
type reachHost struct{ address string }

func (r reachHost) open(ctx context.Context, port int) (bool, error) {
	return dialPort(ctx, r.address, port)
}

func (r reachHost) holder(ctx context.Context, port int) (string, error) {
	return portHolder(ctx, r.address, port)
}

func (reachHost) transport(int) http.RoundTripper { return nil }

func (reachHost) clearShm(_ context.Context, since time.Time) []string {
	_, left := removeShm(shmDir, since)
	return left
}

// reachInside asks inside a container, from where the load comes too: no
// address, route, firewall or proxy of the container matters, and a server
// that listens on loopback only is reached like any other.
type reachInside struct {
	rt Runtime
	in Instance
}

func (r reachInside) ask(ctx context.Context, verb, word string, into any) error {
	res, err := r.rt.Exec(ctx, r.in, Cmd{Argv: []string{r.in.Bin, "inside", verb, word}, Again: true})
	if err != nil {
		return err
	}
	if res.Code != 0 {
		return fmt.Errorf("sweep inside %s in %s: %s", verb, r.in.Name, oneLine(res.Stderr))
	}
	if err := json.Unmarshal(res.Stdout, into); err != nil {
		return fmt.Errorf("sweep inside %s in %s: %w", verb, r.in.Name, err)
	}
	return nil
}

func (r reachInside) open(ctx context.Context, port int) (bool, error) {
	var report portReport
	err := r.ask(ctx, "port", strconv.Itoa(port), &report)
	return report.Open, err
}

func (r reachInside) holder(ctx context.Context, port int) (string, error) {
	var report portReport
	err := r.ask(ctx, "port", strconv.Itoa(port), &report)
	return report.Holder, err
}

func (r reachInside) clearShm(ctx context.Context, since time.Time) []string {
	var left []string
	if err := r.ask(ctx, "shm", since.Format(time.RFC3339), &left); err != nil {
		return []string{"not known what is left in shared memory: " + err.Error()}
	}
	return left
}

func (r reachInside) transport(port int) http.RoundTripper { return insideTransport{r, port} }

// insideTransport carries each request in a call of its own.
type insideTransport struct {
	reachInside
	port int
}

// RoundTrip implements http.RoundTripper. A refused or broken connection is
// the error that a dialled one would give.
func (t insideTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	out := req.Clone(ctx)
	out.Close = true
	var raw bytes.Buffer
	if err := out.Write(&raw); err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	bound := time.Hour
	if at, ok := ctx.Deadline(); ok {
		bound = time.Until(at)
	}
	res, err := t.rt.Exec(ctx, t.in, Cmd{Argv: []string{t.in.Bin, "inside", "http", strconv.Itoa(t.port)},
		Stdin: bytes.NewReader(raw.Bytes()), Again: true, Bound: bound})
	switch {
	case err != nil:
		return nil, err
	case res.Code == httpRefused:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case res.Code == httpBroken:
		return nil, io.ErrUnexpectedEOF
	case res.Code != 0:
		return nil, fmt.Errorf("sweep inside http in %s: %s", t.in.Name, oneLine(res.Stderr))
	}
	if len(res.Stdout) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return http.ReadResponse(bufio.NewReader(bytes.NewReader(res.Stdout)), req)
}

// Package incus speaks the REST API 1.0 of Incus over this host's own unix
// socket: instances, short commands in them, their files, images, GPU facts.
//
// Three rules shape it. A failed operation answers HTTP 200, so an answer is
// judged by what it says. A command whose answer was lost is never sent again:
// the thing itself is looked at, and where that does not tell, the error is
// [ErrUnknown]. And nothing stays open between two calls, because the daemon
// does not shut down while a command runs.
package incus

import (
	"net/http"
	"time"
)

// DefaultProject is the project that every Incus has.
const DefaultProject = "default"

const (
	// dialing is the deadline of connecting to the socket.
	dialing = 5 * time.Second
	// changing is the deadline of starting, freezing and the like.
	changing = 5 * time.Minute
	// copying is the deadline where a root file system is written or removed:
	// an image with a model server in it has tens of gigabytes.
	copying = 40 * time.Minute
)

// Client speaks to one daemon, in one project. It is safe for concurrent use
// and holds nothing open between two calls, so there is nothing to close.
type Client struct {
	socket  string
	project string
	http    *http.Client
	outputs *http.Client // for the streams that are only read
	// quick is the deadline of an answer that needs no work of the daemon.
	quick time.Duration
	// patience is how long a daemon that is away or starting is waited for.
	patience time.Duration
}

// New makes a client of the daemon behind socket. No project means
// [DefaultProject]. Nothing is sent: [Client.Server] tells whether it works.
func New(socket, project string) *Client {
	if project == "" {
		project = DefaultProject
	}
	return &Client{
		socket:   socket,
		project:  project,
		http:     overSocket(socket, asItIs),
		outputs:  overSocket(socket, asLastWords),
		quick:    30 * time.Second,
		patience: time.Minute,
	}
}

// Socket is the path of the daemon's socket.
func (c *Client) Socket() string { return c.socket }

// Project is the project that the client works in.
func (c *Client) Project() string { return c.project }

package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// connection is one way to the host, all jump hosts included. It is used until
// it is lost, and never repaired: a new one is made.
type connection struct {
	client *ssh.Client
	outer  net.Conn // the only real socket; closing it ends every wait at once
	hops   []*ssh.Client
	at     string // the host that client reaches
	once   sync.Once
	lost   chan struct{} // closed when it is over
	reason error         // why; to be read after lost is closed
}

// connect goes through the jump hosts to the host and runs one command there.
func connect(ctx context.Context, s Settings, opts Options) (*connection, error) {
	c := &connection{lost: make(chan struct{})}
	way := append(append([]Settings{}, s.Jumps...), s)
	for i, step := range way {
		client, failure := c.step(ctx, step, opts)
		if failure != nil {
			c.end(errors.New("not established"))
			if ctx.Err() != nil {
				return nil, fmt.Errorf("reach %s: %w", s.name(), context.Cause(ctx))
			}
			failure.Host = step.name()
			if i < len(way)-1 {
				failure.Hop = hopName(i, len(s.Jumps)) + " to " + s.name()
			}
			return nil, failure
		}
		c.client, c.at = client, step.name()
		c.hops = append(c.hops, client)
	}
	go func() { c.end(fmt.Errorf("the connection ended: %w", orClosed(c.client.Wait()))) }()
	go c.keepAlive(s.KeepAlive, s.KeepAliveCount)
	if failure := c.warm(ctx, s); failure != nil {
		c.end(failure)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("reach %s: %w", s.name(), context.Cause(ctx))
		}
		failure.Host = s.name()
		return nil, failure
	}
	return c, nil
}

func orClosed(err error) error {
	if err == nil {
		return errors.New("closed by the host")
	}
	return err
}

// step reaches the next host on the way, from here or from the one before.
func (c *connection) step(ctx context.Context, s Settings, opts Options) (*ssh.Client, *DialError) {
	limited, cancel := context.WithTimeout(ctx, s.ConnectTimeout)
	defer cancel()
	if c.client == nil {
		raw, err := new(net.Dialer).DialContext(limited, "tcp", s.addr())
		if err != nil {
			return nil, classifyTCP(err, s)
		}
		c.outer = raw
		return login(limited, raw, s, opts)
	}
	raw, err := c.client.DialContext(limited, "tcp", s.addr())
	if err != nil {
		return nil, classifyHop(err, s, c.at)
	}
	return login(limited, raw, s, opts)
}

// warm runs the command true. sshd sets TCP_NODELAY only when a session
// starts, and a login that cannot run a command is found out here.
func (c *connection) warm(ctx context.Context, s Settings) *DialError {
	ctx, cancel := context.WithTimeout(ctx, s.ConnectTimeout)
	defer cancel()
	session, err := c.session(ctx)
	if err != nil {
		return failed(KindShell, err, "see ForceCommand, MaxSessions and the user's shell", "the login works and no command can be started: %v", err)
	}
	done := make(chan error, 1)
	go func() { done <- session.Run("true") }()
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	session.Close()
	if timedOut(err) {
		return failed(KindShell, err, "does the login shell's start-up wait for something?", "the login works and the command true does not end within %v", s.ConnectTimeout)
	}
	var exit *ssh.ExitError
	if err != nil && !errors.As(err, &exit) { // how the command ended does not matter: Run finds out why
		return failed(KindHandshake, err, "", "the connection ended right after the login: %v", err)
	}
	return nil
}

// session opens a session, in the time that ctx has.
func (c *connection) session(ctx context.Context) (*ssh.Session, error) {
	type result struct {
		session *ssh.Session
		err     error
	}
	done := make(chan result, 1)
	go func() {
		session, err := c.client.NewSession()
		done <- result{session, err}
	}()
	select {
	case r := <-done:
		return r.session, r.err
	case <-ctx.Done():
		go func() { // it may still open
			if r := <-done; r.err == nil {
				r.session.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

// end closes the connection. The first reason counts.
func (c *connection) end(reason error) {
	c.once.Do(func() {
		c.reason = reason
		close(c.lost)
		if c.outer != nil {
			c.outer.Close()
		}
		for _, hop := range c.hops {
			hop.Close()
		}
	})
}

func (c *connection) alive() bool {
	select {
	case <-c.lost:
		return false
	default:
		return true
	}
}

// keepAlive asks the host every interval whether it is there, and gives the
// connection up when it has not answered for count intervals. Without it a
// read from a host that vanished would wait for hours.
func (c *connection) keepAlive(interval time.Duration, count int) {
	answers := make(chan error, 1)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	asked, missed := false, 0
	for {
		select {
		case <-c.lost:
			return
		case err := <-answers:
			if err != nil {
				c.end(fmt.Errorf("the connection ended: %w", err))
				return
			}
			asked, missed = false, 0
		case <-tick.C:
			if asked {
				if missed++; missed >= count {
					c.end(fmt.Errorf("no answer for %v", interval*time.Duration(count)))
					return
				}
				continue
			}
			asked = true
			go func() {
				_, _, err := c.client.SendRequest("keepalive@openssh.com", true, nil)
				answers <- err
			}()
		}
	}
}

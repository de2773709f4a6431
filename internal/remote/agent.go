package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

const agentTimeout = 3 * time.Second

// keyAgent is a connection to an ssh-agent, and the keys that it has.
type keyAgent struct {
	conn net.Conn
	keys []agentKey
}

type agentKey struct {
	ssh.Signer
	comment string
}

// askAgent lists the keys of the agent. Without a socket there is no agent,
// and that is no error.
func askAgent(ctx context.Context, socket string) (*keyAgent, error) {
	if socket == "" {
		return nil, nil
	}
	dialer := net.Dialer{Timeout: agentTimeout}
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("the agent at %s is not reachable: %w", socket, errors.Unwrap(err))
	}
	if err := conn.SetDeadline(time.Now().Add(agentTimeout)); err != nil {
		conn.Close()
		return nil, err
	}
	a := &keyAgent{conn: conn}
	signers, err := agent.NewClient(conn).Signers()
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("the agent at %s does not tell its keys: %w", socket, err)
	}
	for _, signer := range signers {
		key := agentKey{Signer: signer}
		if public, ok := signer.PublicKey().(*agent.Key); ok {
			key.comment = clean(public.Comment, 40)
		}
		a.keys = append(a.keys, key)
	}
	// A signature may wait for a touch or a confirmation, but not longer than
	// the login, whose deadline closes the agent.
	if err := conn.SetDeadline(time.Time{}); err != nil {
		conn.Close()
		return nil, err
	}
	return a, nil
}

func (a *keyAgent) close() {
	if a != nil {
		a.conn.Close()
	}
}

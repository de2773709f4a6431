package remote

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	// maxHandshakes a minute: a host whose login is broken is not hammered all
	// night, and fail2ban has nothing to count.
	maxHandshakes   = 12
	handshakeWindow = time.Minute
)

// pace holds handshakes back. It is not safe for concurrent use.
type pace struct {
	made []time.Time // the last handshakes, oldest first
}

// wait returns when another handshake is in order.
func (p *pace) wait(ctx context.Context, name string) error {
	now := time.Now()
	for len(p.made) > 0 && now.Sub(p.made[0]) >= handshakeWindow {
		p.made = p.made[1:]
	}
	if len(p.made) >= maxHandshakes {
		if err := sleep(ctx, handshakeWindow-now.Sub(p.made[0])); err != nil {
			return &DialError{Kind: KindBusy, Host: name, Err: err,
				Reason: fmt.Sprintf("%d connections were made in the last minute and lost again", maxHandshakes),
				Remedy: "look at the network and the log of sshd"}
		}
		p.made = p.made[1:]
	}
	p.made = append(p.made, time.Now())
	return nil
}

// backoff is the pause after a try: 0.5 s, 1 s, 2 s, … 15 s, a quarter more or
// less so that many who lost the same host do not come back together.
func backoff(try int) time.Duration {
	pause := min(500*time.Millisecond<<min(try, 10), 15*time.Second)
	return pause*3/4 + rand.N(pause/2)
}

// sleep waits, or returns why ctx ended.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

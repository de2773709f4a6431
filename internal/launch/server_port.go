package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"sweep/internal/sglang"
)

// dialTimeout bounds one attempt to connect: a container that is gone takes
// a minute to say so.
const dialTimeout = 2 * time.Second

// dialPort reports whether something accepts connections. A refusal is no
// error; anything else than an answer or a refusal is.
func dialPort(ctx context.Context, address string, port int) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(port)))
	switch {
	case err == nil:
		conn.Close()
		return true, nil
	case errors.Is(err, syscall.ECONNREFUSED):
		return false, nil
	}
	return false, fmt.Errorf("try port %d of %s: %w", port, address, err)
}

// portHolder says who holds a port, "" when it is free. On this machine itself
// a listener on any address counts: a server that binds to all of them would
// meet it after minutes of loading.
func portHolder(ctx context.Context, address string, port int) (string, error) {
	open, err := dialPort(ctx, address, port)
	if err != nil {
		return "", err
	}
	if open || loopback(address) && len(listeners(port)) > 0 {
		return takenText(address, port), nil
	}
	return "", nil
}

// takenText names the holder of a port as far as this machine can see it.
func takenText(address string, port int) string {
	text := fmt.Sprintf("port %d of %s is taken", port, address)
	if !loopback(address) {
		return text
	}
	var held []string
	for _, l := range listeners(port) {
		if l.pid > 0 {
			held = append(held, fmt.Sprintf("pid %d (%s)", l.pid, l.command))
		}
	}
	if len(held) == 0 {
		return text + " by a process that cannot be seen from here"
	}
	return text + " by " + strings.Join(held, ", ")
}

func loopback(address string) bool {
	ip := net.ParseIP(address)
	return address == "localhost" || ip != nil && ip.IsLoopback()
}

// listener is a socket that listens on a port; pid is 0 where its process
// cannot be seen.
type listener struct {
	pid     int
	command string
}

// shortCommand shows the first words of a command line: later ones may hold
// keys.
func shortCommand(argv []string) string {
	text := sglang.Plain(strings.Join(argv[:min(len(argv), 3)], " "))
	for len(text) > 80 {
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	return text
}

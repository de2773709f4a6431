package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"golang.org/x/crypto/ssh"
)

// classifyTCP says why no connection came about.
func classifyTCP(err error, s Settings) *DialError {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return failed(KindDNS, err, "correct HostName in ~/.ssh/config or address in hosts.yaml", "the name %s has no address", s.Host)
	case errors.As(err, &dns):
		return failed(KindDNS, err, "is this machine online?", "the name server does not tell the address of %s", s.Host)
	case errors.Is(err, syscall.ECONNREFUSED):
		return failed(KindRefused, err, "is sshd running there, and is this its port?", "nothing listens on port %d", s.Port)
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return failed(KindUnreachable, err, "is the host up, and is the VPN connected?", "there is no route to %s", s.Host)
	case timedOut(err):
		return failed(KindUnreachable, err, "is the host up, and does a firewall drop the port?", "no answer from port %d within %v", s.Port, s.ConnectTimeout)
	}
	return failed(KindUnreachable, err, "", "no connection: %v", err)
}

// classifyHop says why a jump host did not pass us on to the next one.
func classifyHop(err error, s Settings, from string) *DialError {
	var refused *ssh.OpenChannelError
	if !errors.As(err, &refused) {
		if timedOut(err) {
			return failed(KindUnreachable, err, "is the host up, as seen from there?", "no answer within %v through jump host %s", s.ConnectTimeout, from)
		}
		return failed(KindUnreachable, err, "", "the connection to jump host %s ended: %v", from, err)
	}
	text := strings.ToLower(refused.Message)
	switch {
	case refused.Reason == ssh.Prohibited:
		return failed(KindForwardingDenied, err, "AllowTcpForwarding must be yes in its sshd_config", "jump host %s does not forward connections", from)
	case strings.Contains(text, "refused"):
		return failed(KindRefused, err, "is sshd running there, and is this its port?", "jump host %s finds nothing listening on port %d", from, s.Port)
	case strings.Contains(text, "resolve"), strings.Contains(text, "not known"), strings.Contains(text, "no address"):
		return failed(KindDNS, err, "correct HostName in ~/.ssh/config or address in hosts.yaml", "jump host %s knows no address of %s", from, s.Host)
	}
	return failed(KindUnreachable, err, "is the host up, as seen from there?", "jump host %s cannot connect to it: %s", from, clean(refused.Message, 100))
}

// classifyHandshake says why a connection did not become a login. Failures
// that were recognised earlier pass as they are.
func classifyHandshake(err error, s Settings, greeting []byte) *DialError {
	var known *DialError
	if errors.As(err, &known) {
		return known
	}
	if !strings.Contains(string(greeting), "SSH-") {
		return classifyGreeting(err, s, string(greeting))
	}
	var negotiation *ssh.AlgorithmNegotiationError
	switch {
	case errors.As(err, &negotiation):
		return failed(KindNotSSH, err, "the server is very old or very strict", "no algorithm in common: %v", negotiation)
	case timedOut(err):
		return failed(KindHandshake, err, "is the host overloaded?", "the login did not finish within %v", s.ConnectTimeout)
	}
	return failed(KindHandshake, err, "", "the login failed: %s", clean(strings.TrimPrefix(err.Error(), "ssh: handshake failed: "), 200))
}

func classifyGreeting(err error, s Settings, said string) *DialError {
	switch {
	case said == "" && timedOut(err):
		return failed(KindNotSSH, err, "is this the port of sshd?", "port %d accepts and says nothing for %v", s.Port, s.ConnectTimeout)
	case strings.HasPrefix(said, "Exceeded MaxStartups"), strings.HasPrefix(said, "Not allowed at this time"):
		return failed(KindReset, err, "try again in a minute", "sshd refuses new logins for now: %s", clean(said, 60))
	case said == "" && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)):
		return failed(KindReset, err, "try again; see MaxStartups, and whether fail2ban or a firewall shuts this machine out",
			"port %d hangs up before any greeting: too many logins at once", s.Port)
	}
	return failed(KindNotSSH, err, "is this the port of sshd?", "what listens on port %d is not an SSH server: it says %q", s.Port, clean(said, 40))
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// greetingConn keeps the first bytes that the other side sent: they tell what
// it is when it is not sshd.
type greetingConn struct {
	net.Conn
	head []byte
}

const greetingSize = 256

func (c *greetingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if room := greetingSize - len(c.head); room > 0 && n > 0 {
		c.head = append(c.head, p[:min(n, room)]...)
	}
	return n, err
}

func hopName(i, of int) string {
	if of == 1 {
		return "the jump host"
	}
	return fmt.Sprintf("jump host %d of %d", i+1, of)
}

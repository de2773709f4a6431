package remote

import (
	"fmt"
	"strings"
)

// Kind tells why a host was not reached.
type Kind string

// The kinds of a *DialError.
const (
	KindDNS              Kind = "dns"          // the name has no address
	KindRefused          Kind = "refused"      // nothing listens on the port
	KindUnreachable      Kind = "unreachable"  // no route, or no answer in time
	KindReset            Kind = "reset"        // sshd is there and hung up before its greeting: too many logins at once
	KindNotSSH           Kind = "not-ssh"      // something else listens there
	KindAuth             Kind = "auth"         // no key was accepted
	KindEncryptedKey     Kind = "encrypted"    // the key needs a passphrase
	KindAgent            Kind = "agent"        // the agent cannot be asked, and there is no other key
	KindHostKeyUnknown   Kind = "key-unknown"  // the host is in no known_hosts file
	KindHostKeyChanged   Kind = "key-changed"  // known_hosts has another key
	KindHostKeyRevoked   Kind = "key-revoked"  // known_hosts revokes the key
	KindHostKeyRefused   Kind = "key-refused"  // a certificate that does not hold
	KindKnownHosts       Kind = "known-hosts"  // a known_hosts file cannot be read or written
	KindForwardingDenied Kind = "jump-refused" // the jump host forwards nothing
	KindShell            Kind = "shell"        // the login works and no command runs
	KindHandshake        Kind = "handshake"    // anything else between greeting and login
	KindBusy             Kind = "busy"         // too many handshakes in the last minute
)

// DialError is a host that was not reached: one sentence, and what to do.
type DialError struct {
	Kind   Kind
	Host   string // the host that failed, which may be one on the way
	Hop    string // "" or which jump host it is: "jump host 1 of 2"
	Reason string
	Remedy string
	Err    error // the cause; may be nil
}

func (e *DialError) Error() string {
	var b strings.Builder
	b.WriteString("reach " + e.Host)
	if e.Hop != "" {
		b.WriteString(" (" + e.Hop + ")")
	}
	b.WriteString(": " + e.Reason)
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

func (e *DialError) Unwrap() error { return e.Err }

// Transient tells whether the same try may work a little later: the host
// boots, the network flaps, too many log in at once. A refused key, a host key
// and a name that does not exist stay what they are.
func (e *DialError) Transient() bool {
	switch e.Kind {
	case KindRefused, KindUnreachable, KindReset, KindBusy, KindHandshake:
		return true
	}
	return false
}

func failed(kind Kind, cause error, remedy, reason string, args ...any) *DialError {
	return &DialError{Kind: kind, Reason: fmt.Sprintf(reason, args...), Remedy: remedy, Err: cause}
}

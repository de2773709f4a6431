package remote

import (
	"context"
	"fmt"
	"net"
	"strings"

	"golang.org/x/crypto/ssh"
)

// login makes an SSH client of a connection: greeting, host key, our key. The
// connection is closed if it fails, or when ctx ends first.
func login(ctx context.Context, raw net.Conn, s Settings, opts Options) (*ssh.Client, *DialError) {
	opened := false
	defer func() {
		if !opened {
			raw.Close()
		}
	}()
	hostKeys, err := newHostKeys(s, opts.AcceptNewHostKey, opts.log)
	if err != nil {
		return nil, classifyHandshake(err, s, []byte("SSH-"))
	}
	agent, agentErr := askAgent(ctx, s.Agent)
	defer agent.close()
	ring := collectKeys(s, agent)
	if agentErr != nil {
		ring.problems = append(ring.problems, agentErr.Error())
	}
	attempt := attempt{settings: s, ring: ring, agentErr: agentErr}
	config := &ssh.ClientConfig{
		User:              s.User,
		HostKeyCallback:   hostKeys.check,
		HostKeyAlgorithms: hostKeys.algorithms(),
		Auth:              []ssh.AuthMethod{ssh.PublicKeysCallback(attempt.signers)},
		AuthCallback:      attempt.watch,
		ClientVersion:     "SSH-2.0-sweep",
	}
	conn := &greetingConn{Conn: raw}
	// Closing is the only way to end a handshake that also works for a
	// connection through a jump host, which knows no deadlines.
	stop := context.AfterFunc(ctx, func() { raw.Close(); agent.close() })
	defer stop()
	c, channels, requests, err := ssh.NewClientConn(conn, s.addr(), config)
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w (%w)", ctx.Err(), err)
		}
		if attempt.reached {
			return nil, attempt.refused(err)
		}
		return nil, classifyHandshake(err, s, conn.head)
	}
	opened = true
	return ssh.NewClient(c, channels, requests), nil
}

// attempt watches one login, to say afterwards why it was refused.
type attempt struct {
	settings Settings
	ring     keyring
	agentErr error
	reached  bool // the host key is accepted, the server asks who we are
	allowed  []string
	partial  []string
}

func (a *attempt) signers() ([]ssh.Signer, error) {
	var signers []ssh.Signer
	for _, o := range a.ring.offers {
		signers = append(signers, o.Signer)
	}
	return signers, nil
}

func (a *attempt) watch(c *ssh.ClientAuthContext) (ssh.AuthMethod, error) {
	a.reached, a.allowed, a.partial = true, c.AllowedMethods, c.PartialSuccessMethods
	return nil, nil
}

// refused says why no key opened the door.
func (a *attempt) refused(err error) *DialError {
	user, problems := a.settings.User, ""
	if len(a.ring.problems) > 0 {
		problems = " (" + strings.Join(a.ring.problems, "; ") + ")"
	}
	var offered []string
	for _, o := range a.ring.offers {
		offered = append(offered, fmt.Sprintf("%s (%s)", fingerprint(o.PublicKey()), o.origin))
	}
	text := err.Error()
	switch {
	case timedOut(err):
		return failed(KindHandshake, err, "does the agent wait for a confirmation or a touch?", "the login as %s did not finish within %v%s", user, a.settings.ConnectTimeout, problems)
	case len(a.partial) > 0:
		return failed(KindAuth, err, "allow publickey alone for this user", "the key is accepted and the server asks for more: %s", clean(strings.Join(a.allowed, ", "), 80))
	case len(a.ring.encrypted) > 0:
		file := a.ring.encrypted[0]
		return failed(KindEncryptedKey, err, "run: ssh-add "+Quote(file), "the key %s needs its passphrase, and the agent does not have it%s", file, problems)
	case len(offered) == 0 && a.agentErr != nil:
		return failed(KindAgent, err, "start it, or name a key with IdentityFile", "there is no key to log in with: %v", a.agentErr)
	case len(offered) == 0:
		return failed(KindAuth, err, "name one with IdentityFile in ~/.ssh/config, or load one with ssh-add", "there is no key to log in with%s", problems)
	case len(a.allowed) > 0 && !strings.Contains(strings.Join(a.allowed, ","), "publickey"):
		return failed(KindAuth, err, "allow publickey for this user", "the server takes no keys from %s, only %s", user, clean(strings.Join(a.allowed, ", "), 80))
	case strings.Contains(text, "Too many authentication failures"):
		return failed(KindAuth, err, "name the right one with IdentityFile in ~/.ssh/config: it is then offered first",
			"the server hung up after too many keys for user %s; in this order: %s%s", user, strings.Join(offered, ", "), problems)
	}
	return failed(KindAuth, err, fmt.Sprintf("is the user right, and is the key in its authorized_keys? (ssh-copy-id %s)", Quote(a.settings.Alias)),
		"user %s with these keys is refused: %s%s", user, strings.Join(offered, ", "), problems)
}

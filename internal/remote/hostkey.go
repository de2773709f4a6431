package remote

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"
)

// hostKeys checks the key of one host against the known_hosts files.
type hostKeys struct {
	settings  Settings
	addr      string // name and port as known_hosts has them
	acceptNew bool
	log       func(string)
	db        *knownhosts.HostKeyDB
}

func newHostKeys(s Settings, acceptNew bool, log func(string)) (*hostKeys, error) {
	k := &hostKeys{settings: s, acceptNew: acceptNew || s.AcceptNew, log: log, addr: s.addr()}
	if s.HostKeyAlias != "" {
		k.addr = net.JoinHostPort(s.HostKeyAlias, "22") // an alias has no port, as in ssh
	}
	var files []string
	for _, file := range s.KnownHosts {
		if info, err := os.Stat(file); err == nil && !info.IsDir() {
			files = append(files, file)
		}
	}
	db, err := knownhosts.NewDB(files...)
	if err != nil {
		return nil, failed(KindKnownHosts, err, "correct the file", "the known host keys cannot be read: %v", err)
	}
	k.db = db
	return k, nil
}

// algorithms asks for a key of a kind that known_hosts has, and for others
// only behind it: a server with several keys would else show one that is not
// known. Certificates are asked for only where an authority is known.
func (k *hostKeys) algorithms() []string {
	all := k.db.HostKeyAlgorithms(k.addr)
	// Certificates first: the plain key behind them need not be known.
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(plainFirst(a), plainFirst(b)) })
	// ed25519 before the rest, as ssh does: its fingerprint is the one that
	// people compare.
	for _, algorithm := range append([]string{ssh.KeyAlgoED25519}, ssh.SupportedAlgorithms().HostKeys...) {
		if !strings.Contains(algorithm, "-cert-") && !slices.Contains(all, algorithm) {
			all = append(all, algorithm)
		}
	}
	return slices.DeleteFunc(all, func(a string) bool { return a == ssh.KeyAlgoRSA })
}

func plainFirst(algorithm string) int {
	if strings.Contains(algorithm, "-cert-") {
		return 0
	}
	return 1
}

// check is the ssh.HostKeyCallback.
func (k *hostKeys) check(_ string, remote net.Addr, key ssh.PublicKey) error {
	err := k.db.HostKeyCallback()(k.addr, remote, key)
	var unequal *xknownhosts.KeyError
	var revoked *xknownhosts.RevokedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &revoked):
		return failed(KindHostKeyRevoked, err, "the key is known to be stolen: do not log in; ask who runs the host",
			"its key %s is revoked in %s:%d", fingerprint(key), revoked.Revoked.Filename, revoked.Revoked.Line)
	case !errors.As(err, &unequal):
		return failed(KindHostKeyRefused, err, "", "its host key does not hold: %s", clean(err.Error(), 200))
	case len(unequal.Want) > 0:
		return k.changed(err, key, unequal.Want)
	}
	return k.unknown(err, key)
}

func (k *hostKeys) changed(err error, key ssh.PublicKey, want []xknownhosts.KnownKey) error {
	known := want[0]
	for _, w := range want {
		if w.Key.Type() == key.Type() {
			known = w
			break
		}
	}
	return failed(KindHostKeyChanged, err,
		fmt.Sprintf("reinstalled? then compare the key with its owner and run: ssh-keygen -R %s -f %s; otherwise someone is in between",
			Quote(knownhosts.Normalize(k.addr)), Quote(known.Filename)),
		"its host key is not the known one: now %s, known from %s:%d %s", fingerprint(key), known.Filename, known.Line, fingerprint(known.Key))
}

func (k *hostKeys) unknown(err error, key ssh.PublicKey) error {
	if !k.acceptNew {
		return failed(KindHostKeyUnknown, err,
			fmt.Sprintf("compare it with the host's own, then log in once with ssh %s, or pass --accept-new-host-key, or run: ssh-keyscan -p %d %s >> %s",
				Quote(k.settings.Alias), k.settings.Port, Quote(k.settings.Host), Quote(k.file())),
			"its host key %s is not known", fingerprint(key))
	}
	if err := k.remember(key); err != nil {
		return failed(KindKnownHosts, err, "", "its new host key cannot be written down: %v", err)
	}
	return nil
}

// file is where new keys go.
func (k *hostKeys) file() string {
	if len(k.settings.KnownHosts) == 0 {
		return os.DevNull
	}
	return k.settings.KnownHosts[0]
}

// fingerprint names a key as ssh-keygen -l does.
func fingerprint(key ssh.PublicKey) string {
	return shortType(key.Type()) + " " + ssh.FingerprintSHA256(key)
}

func shortType(name string) string {
	name = strings.TrimSuffix(name, "@openssh.com")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "ssh-"), "ecdsa-sha2-")
	return strings.ToUpper(name)
}

package remote

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/crypto/ssh"
)

const (
	// maxOffered is how many keys are offered in one login. sshd hangs up at
	// the sixth failure unless told otherwise, and some hosts lock out for it.
	maxOffered = 5
	keySize    = 64 << 10 // bytes of a key file
)

// offer is a key and where it comes from.
type offer struct {
	ssh.Signer
	origin string
}

// keyring are the keys of one login in the order in which they are offered.
type keyring struct {
	offers    []offer
	encrypted []string // key files that need a passphrase, and are not in the agent
	problems  []string // configured key files that cannot be used, and the agent
}

// collectKeys puts the keys into order: configured files (signed by the agent
// when it has the key), then the agent's other keys, then files with the usual
// names. A key that is offered late may never be looked at.
func collectKeys(s Settings, a *keyAgent) keyring {
	var ring keyring
	taken := map[string]bool{}
	files := func() {
		for _, file := range s.Identities {
			ring.file(file, s.Explicit, a, taken)
		}
	}
	if s.Explicit {
		files()
	}
	if a != nil && !s.IdentitiesOnly {
		for _, key := range a.keys {
			ring.add(key, taken, "agent: "+key.comment)
		}
	}
	if !s.Explicit {
		files()
	}
	if len(ring.offers) > maxOffered {
		ring.offers = ring.offers[:maxOffered]
	}
	return ring
}

// file takes a key file: by the agent if that has the key, else by itself.
func (r *keyring) file(file string, explicit bool, a *keyAgent, taken map[string]bool) {
	public, signer, err := readKey(file)
	if public != nil && a != nil {
		for _, key := range a.keys {
			if bytes.Equal(key.PublicKey().Marshal(), public.Marshal()) {
				r.add(key, taken, file+", by the agent")
				return
			}
		}
	}
	var passphrase *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &passphrase):
		r.encrypted = append(r.encrypted, file)
	case err != nil && (explicit || !errors.Is(err, fs.ErrNotExist)):
		r.problems = append(r.problems, "key file "+file+": "+plain(err))
	case err == nil && !taken[string(signer.PublicKey().Marshal())]:
		taken[string(signer.PublicKey().Marshal())] = true
		r.offers = append(r.offers, offer{certified(file, signer), file})
	}
}

// add takes a key of the agent, once.
func (r *keyring) add(key agentKey, taken map[string]bool, origin string) {
	blob := string(key.PublicKey().Marshal())
	if !taken[blob] {
		taken[blob] = true
		r.offers = append(r.offers, offer{key.Signer, origin})
	}
}

// readKey reads a key file. The public half is told even where the private one
// is encrypted or lives in the agent only. The mode of the file does not
// matter: it is read, not judged.
func readKey(file string) (ssh.PublicKey, ssh.Signer, error) {
	var public ssh.PublicKey
	if data, err := readSmall(file + ".pub"); err == nil {
		public, _, _, _, _ = ssh.ParseAuthorizedKey(data)
	}
	data, err := readSmall(file)
	if err != nil {
		return public, nil, err
	}
	if key, _, _, _, err := ssh.ParseAuthorizedKey(data); err == nil {
		return key, nil, errors.New("it holds only a public key, and the agent does not have the private one")
	}
	signer, err := ssh.ParsePrivateKey(data)
	var passphrase *ssh.PassphraseMissingError
	if errors.As(err, &passphrase) && passphrase.PublicKey != nil {
		public = passphrase.PublicKey
	}
	if err != nil {
		return public, nil, err
	}
	return signer.PublicKey(), signer, nil
}

// certified adds the certificate beside a key file, if there is one.
func certified(file string, signer ssh.Signer) ssh.Signer {
	data, err := readSmall(file + "-cert.pub")
	if err != nil {
		return signer
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(data)
	if err != nil {
		return signer
	}
	cert, ok := key.(*ssh.Certificate)
	if !ok {
		return signer
	}
	if with, err := ssh.NewCertSigner(cert, signer); err == nil {
		return with
	}
	return signer
}

func readSmall(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, keySize))
}

// plain is the reason of a file error without operation and path.
func plain(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return clean(err.Error(), 120)
}

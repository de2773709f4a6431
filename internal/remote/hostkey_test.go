package remote

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"
)

func TestE07KnownHosts(t *testing.T) {
	private := ecdsaKey(t)
	ecFile := filepath.Join(t.TempDir(), "host_ecdsa")
	check(t, os.WriteFile(ecFile, private, 0o600))
	ec, err := ssh.ParsePrivateKey(private)
	check(t, err)
	s := startSSHD(t, "HostKey "+ecFile)
	other := newKey(t, filepath.Join(t.TempDir(), "other"), "").PublicKey()
	own, name := s.hostKey.PublicKey(), fmt.Sprintf("[127.0.0.1]:%d", s.port)

	with := func(lines ...string) Settings {
		t.Helper()
		settings := s.settings()
		file := filepath.Join(t.TempDir(), "known hosts")
		check(t, os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600))
		settings.KnownHosts = []string{"/nonexistent/known_hosts", file}
		return settings
	}
	for what, settings := range map[string]Settings{
		"plain":            with("# comment\n\n", line(name, own)),
		"hashed":           with(line(xknownhosts.HashHostname(name), own)),
		"one of two kinds": with(line(name, ec.PublicKey())), // the server would show ed25519 first
		"both kinds":       with(line(name, ec.PublicKey()), line(name, own)),
		"wildcard":         with(line("127.0.0.*", own)),
		"broken line":      with("garbage\n", line(name, own)),
	} {
		t.Run(what, func(t *testing.T) { dial(t, settings) })
	}
	alias := with(line("gpu-alias", own))
	alias.HostKeyAlias = "gpu-alias"
	dial(t, alias)

	changed := with("# one\n", line(name, other))
	refusal(t, changed, KindHostKeyChanged, changed.KnownHosts[1]+":2", ssh.FingerprintSHA256(own), ssh.FingerprintSHA256(other), "ssh-keygen -R")
	changed.AcceptNew = true
	refusal(t, changed, KindHostKeyChanged)
	refusal(t, with("@revoked * "+line("", own)[1:], line(name, own)), KindHostKeyRevoked, ":1")
	refusal(t, with(), KindHostKeyUnknown, ssh.FingerprintSHA256(own), "--accept-new-host-key", "ssh-keyscan -p")
	refusal(t, with(line("[127.0.0.1]:1", own)), KindHostKeyUnknown)
	refusal(t, with("garbage\n"), KindKnownHosts)
}

// ecdsaKey is a key of another kind, as a file.
func ecdsaKey(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	block, err := ssh.MarshalPrivateKey(key, "")
	check(t, err)
	return pem.EncodeToMemory(block)
}

func TestHostCertificates(t *testing.T) {
	dir := t.TempDir()
	ca, key := newKey(t, dir+"/ca", ""), newKey(t, dir+"/host", "")
	cert := &ssh.Certificate{Key: key.PublicKey(), CertType: ssh.HostCert, ValidPrincipals: []string{"127.0.0.1"}, ValidBefore: ssh.CertTimeInfinity}
	check(t, cert.SignCert(rand.Reader, ca))
	check(t, os.WriteFile(dir+"/host-cert.pub", ssh.MarshalAuthorizedKey(cert), 0o644))
	s := startSSHD(t, "HostKey "+dir+"/host", "HostCertificate "+dir+"/host-cert.pub")
	settings := s.settings()
	settings.KnownHosts = []string{dir + "/known"}
	check(t, os.WriteFile(dir+"/known", []byte("@cert-authority "+line("*", ca.PublicKey())), 0o600))
	dial(t, settings)
	// Without the authority, the plain key counts.
	check(t, os.WriteFile(dir+"/known", []byte(line(fmt.Sprintf("[127.0.0.1]:%d", s.port), key.PublicKey())), 0o600))
	dial(t, settings)
	stranger := newKey(t, dir+"/ca2", "")
	check(t, os.WriteFile(dir+"/known", []byte("@cert-authority "+line("*", stranger.PublicKey())), 0o600))
	refusal(t, settings, KindHostKeyRefused)
}

func TestNewHostKeyIsWrittenDown(t *testing.T) {
	s := startSSHD(t)
	for _, hash := range []bool{false, true} {
		settings := s.settings()
		file := filepath.Join(t.TempDir(), "new", "known_hosts")
		settings.KnownHosts, settings.HashKnownHosts = []string{file, s.knownFile + "x"}, hash
		check(t, os.MkdirAll(filepath.Dir(file), 0o700))
		before := "# no line break at the end"
		check(t, os.WriteFile(file, []byte(before), 0o640))
		log := &logLines{}
		h, err := Dial(deadline(t), settings, Options{AcceptNewHostKey: true, Log: log.add})
		check(t, err)
		h.Close()
		data, err := os.ReadFile(file)
		check(t, err)
		if !strings.HasPrefix(string(data), before+"\n") || strings.Count(string(data), "\n") != 2 || strings.Contains(string(data), "127.0.0.1") == hash {
			t.Errorf("hash %v: %s", hash, data)
		}
		if !strings.Contains(log.String(), fingerprint(s.hostKey.PublicKey())) {
			t.Errorf("nobody was told: %s", log)
		}
		dial(t, settings) // known from now on
	}
	nowhere := s.settings()
	nowhere.KnownHosts = []string{os.DevNull}
	h, err := Dial(deadline(t), nowhere, Options{AcceptNewHostKey: true})
	check(t, err)
	h.Close()
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Error("/dev/null is not what it was")
	}
}

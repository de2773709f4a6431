package remote

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"
)

// remember appends a new key to the first known_hosts file: one write at the
// end of the file, so that neither ssh nor another sweep that does the same
// loses a line, and links and modes stay what they are.
func (k *hostKeys) remember(key ssh.PublicKey) (err error) {
	name := knownhosts.Normalize(k.addr)
	if strings.ContainsAny(name, " \t\n\r,") {
		return fmt.Errorf("the name %q does not fit into known_hosts", name)
	}
	if k.settings.HashKnownHosts {
		name = xknownhosts.HashHostname(name)
	}
	line := name + " " + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))) + "\n"
	file := k.file()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() { // UserKnownHostsFile /dev/null: nothing is to be kept
		k.log(fmt.Sprintf("%s: new host key %s, not kept since %s is not a file", k.settings.name(), fingerprint(key), file))
		return nil
	}
	if size := info.Size(); size > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, size-1); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if last[0] != '\n' {
			line = "\n" + line
		}
	}
	if _, err := f.WriteString(line); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	k.log(fmt.Sprintf("%s: new host key %s, added to %s", k.settings.name(), fingerprint(key), file))
	return nil
}

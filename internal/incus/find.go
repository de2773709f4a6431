package incus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Find names the socket of this host's daemon: $INCUS_SOCKET,
// $INCUS_DIR/unix.socket, /run/incus/unix.socket or /var/lib/incus/unix.socket,
// the first that is there. It looks at names only: [Client.Server] tells
// whether a daemon answers. The error says where it looked, and wraps
// fs.ErrNotExist.
func Find() (string, error) {
	return find(os.Getenv, os.Lstat)
}

func find(env func(string) string, stat func(string) (fs.FileInfo, error)) (string, error) {
	var places []string
	if s := env("INCUS_SOCKET"); s != "" {
		places = append(places, s)
	}
	if d := env("INCUS_DIR"); d != "" {
		places = append(places, filepath.Join(d, "unix.socket"))
	}
	places = append(places, "/run/incus/unix.socket", "/var/lib/incus/unix.socket")
	for _, p := range places {
		// A directory that may not be looked into still names the place: the
		// first call says what is missing.
		if _, err := stat(p); err == nil || errors.Is(err, fs.ErrPermission) {
			return p, nil
		}
	}
	return "", fmt.Errorf("find the Incus socket: %w: looked at %s: is Incus installed and started on this host? set INCUS_SOCKET if its socket is elsewhere",
		fs.ErrNotExist, strings.Join(places, ", "))
}

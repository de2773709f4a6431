package incus

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// notReached explains why the socket did not take a connection, and what to do.
// Permission is not ErrUnreachable: waiting does not help.
func (c *Client) notReached(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w: add the user to the group incus-admin and log in again, or run this with sudo", c.socket, fs.ErrPermission)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s is not there: is Incus installed and started? set INCUS_SOCKET if its socket is elsewhere", ErrUnreachable, c.socket)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: nobody listens at %s: start it with `systemctl start incus`", ErrUnreachable, c.socket)
	}
	return fmt.Errorf("%w: %s: %w", ErrUnreachable, c.socket, err)
}

package bench

import (
	"errors"
	"fmt"
	"syscall"
)

// spareFiles is what the process needs beside one descriptor a connection:
// standard streams, files, the poller, a control call.
const spareFiles = 64

// CheckFiles refuses levels whose connections this host's limit on open files or
// its range of local ports does not allow, before a server is started for them.
func CheckFiles(levels []Level) error {
	most := 0
	for _, l := range levels {
		most = max(most, l.slots())
	}
	return errors.Join(ensureFiles(most), ensurePorts(most))
}

// ensurePorts refuses more connections than there are local ports for: halfway
// through a level it would look like a server that is gone. Connections of the
// warm-up count too, since a port rests for a while after its connection.
func ensurePorts(n int) error {
	if have := localPorts(); have >= 0 && n > have {
		return fmt.Errorf("%d connections of the client, with those of the warm-up, need as many local ports, and this system has %d of them: widen net.ipv4.ip_local_port_range or lower the concurrency", n, have)
	}
	return nil
}

// ensureFiles raises the soft limit on open files of this process so that n
// connections fit, and refuses beforehand when the hard limit does not allow it:
// halfway through a level it would look like a server that refuses connections.
func ensureFiles(n int) error {
	need := uint64(n + spareFiles)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read the limit on open files of the client: %w", err)
	}
	if limit.Cur >= need {
		return nil
	}
	if limit.Max < need {
		return fmt.Errorf("%d connections need %d open files in the client, whose hard limit is %d: raise it for this user (ulimit -Hn, limits.conf, LimitNOFILE=) or lower the concurrency",
			n, need, limit.Max)
	}
	limit.Cur = need
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("raise the limit on open files of the client to %d: %w", need, err)
	}
	return nil
}

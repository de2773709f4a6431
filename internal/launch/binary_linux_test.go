package launch

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The mount is made in a mount namespace that only the process below sees.
func TestCachedBinaryOnANoexecMount(t *testing.T) {
	if cache := os.Getenv("SWEEP_TEST_NOEXEC"); cache != "" {
		if err := unix.Mount("tmpfs", cache, "tmpfs", unix.MS_NOEXEC, ""); err != nil {
			t.Fatal(err)
		}
		if path, err := CachedBinary(t.Context(), cache); err == nil || !strings.Contains(err.Error(), "noexec") {
			t.Errorf("got %q, %v", path, err)
		}
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCachedBinaryOnANoexecMount$")
	cmd.Env = append(os.Environ(), "SWEEP_TEST_NOEXEC="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS} // unshared, so that the mount is not propagated
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) {
		t.Skip("no mount namespace can be made here")
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

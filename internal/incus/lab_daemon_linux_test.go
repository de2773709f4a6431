package incus

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// incusd is where Debian has it; it is in nobody's PATH.
const incusd = "/usr/libexec/incus/incusd"

// daemon is one of the test's own, so that it can be ended without disturbing
// others that use the lab's.
type daemon struct {
	dir string
	cmd *exec.Cmd
}

// labDaemon starts a daemon with a pool and an image and no network, and
// removes it with all that it made.
func labDaemon(t *testing.T) (*daemon, *Client) {
	t.Helper()
	image := filepath.Join(os.Getenv("LAB_IMAGES"), "tiny.tar.gz")
	if os.Getenv("SWEEP_LAB") == "" || os.Getenv("LAB_IMAGES") == "" || os.Getuid() != 0 {
		t.Skip("needs a lab with Incus, as root: SWEEP_LAB=1 and LAB_IMAGES")
	}
	d := &daemon{dir: filepath.Dir(socketPath(t))}
	c := New(filepath.Join(d.dir, "unix.socket"), "")
	t.Cleanup(func() { d.remove(t, c) })
	d.start(t)
	ctx := brief(t, time.Minute)
	for _, r := range []request{
		{method: http.MethodPost, path: at("storage-pools"), body: map[string]any{"name": "default", "driver": "dir"}},
		{method: http.MethodPatch, path: at("profiles", "default"), body: map[string]any{"devices": map[string]any{"root": map[string]string{"type": "disk", "path": "/", "pool": "default"}}}},
	} {
		if err := c.change(ctx, r, neverDone); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(ctx, "incus", "image", "import", "-q", image, "--alias", labImage)
	cmd.Env = d.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("import %s: %v: %s", image, err, out)
	}
	return d, c
}

func (d *daemon) env() []string {
	env := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "INCUS_") })
	return append(env, "INCUS_DIR="+d.dir, "INCUS_CONF="+filepath.Join(d.dir, "client"))
}

// start returns when the daemon answers.
func (d *daemon) start(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(d.dir, "out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	d.cmd = exec.Command(incusd, "--logfile", filepath.Join(d.dir, "log"))
	d.cmd.Env, d.cmd.Stdout, d.cmd.Stderr, d.cmd.SysProcAttr = d.env(), log, log, &syscall.SysProcAttr{Setsid: true}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := exec.CommandContext(brief(t, time.Minute), incusd, "waitready", "--timeout=60")
	ready.Env = d.env()
	if out, err := ready.CombinedOutput(); err != nil {
		t.Fatalf("the daemon is not ready: %v: %s", err, out)
	}
}

// end ends the daemon alone: containers and their monitors live on. How it
// ended is not of interest.
func (d *daemon) end(signal syscall.Signal) {
	_ = d.cmd.Process.Signal(signal)
	_ = d.cmd.Wait()
}

func (d *daemon) remove(t *testing.T, c *Client) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	impatient := *c
	impatient.patience = 0 // it may be away, or going
	if all, err := impatient.Instances(ctx, nil); err != nil {
		t.Error(err)
	} else {
		for _, in := range all {
			labRemove(t, c, in.Name)
		}
	}
	d.end(syscall.SIGKILL)
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil {
		t.Error(err)
	}
	lines := bytes.Split(mounts, []byte("\n"))
	slices.Reverse(lines) // the innermost came last
	for _, line := range lines {
		if fields := strings.Fields(string(line)); len(fields) > 1 && strings.HasPrefix(fields[1], d.dir+"/") {
			if err := syscall.Unmount(fields[1], syscall.MNT_DETACH); err != nil {
				t.Errorf("unmount %s: %v", fields[1], err)
			}
		}
	}
}

package incus

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The daemon is killed while a command runs: how it ended is not known, and the
// client works on with the next daemon.
func TestLabDaemonKilledInExec(t *testing.T) {
	d, c := labDaemon(t)
	ctx := brief(t, 2*time.Minute)
	name := labInstance(t, c, "killed")
	ended := make(chan error, 1)
	go func() {
		_, err := c.Exec(ctx, name, ExecRequest{Argv: []string{"sh", "-c", "echo x >/tmp/pid; exec sleep 1000"}})
		ended <- err
	}()
	labWritten(ctx, t, c, name, "/tmp/pid")
	before, err := c.State(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	d.end(syscall.SIGKILL)
	if err := <-ended; !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
	// A call that is made while the daemon is away waits for the next one.
	looked := make(chan error, 1)
	var after State
	go func() {
		var err error
		after, err = c.State(ctx, name)
		looked <- err
	}()
	d.start(t)
	if err := <-looked; err != nil || after.PID != before.PID {
		t.Errorf("the instance is %+v, was %+v, %v", after, before, err)
	}
	if res, err := c.Exec(ctx, name, ExecRequest{Argv: []string{"echo", "again"}}); err != nil || string(res.Stdout) != "again\n" {
		t.Errorf("%+v, %v", res, err)
	}
}

// The daemon is asked to go while a command runs: it waits for the command,
// whose end and code are still heard of; other calls wait for the next daemon.
func TestLabDaemonTermInExec(t *testing.T) {
	d, c := labDaemon(t)
	ctx := brief(t, time.Minute)
	name := labInstance(t, c, "term")
	type end struct {
		res ExecResult
		err error
	}
	ended := make(chan end, 1)
	input, feed := io.Pipe()
	go func() {
		res, err := c.Exec(ctx, name, ExecRequest{Argv: []string{"sh", "-c", "echo x >/tmp/pid; cat; exit 5"}, Stdin: input})
		ended <- end{res, err}
	}()
	labWritten(ctx, t, c, name, "/tmp/pid")
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	hasty := *c
	hasty.patience = 0
	var last error
	for {
		// It still answers questions.
		_, err := hasty.Exec(ctx, name, ExecRequest{Argv: []string{"true"}})
		last = err
		if errors.Is(err, ErrShuttingDown) {
			break
		}
		if !sleep(ctx, 20*time.Millisecond) {
			t.Fatalf("the daemon does not say that it is going: %v", last)
		}
	}
	_, err := io.WriteString(feed, "last words")
	if err := errors.Join(err, feed.Close()); err != nil {
		t.Error(err)
	}
	if e := <-ended; e.err != nil || e.res.Code != 5 || string(e.res.Stdout) != "last words" {
		t.Errorf("got %+v, %v", e.res, e.err)
	}
	d.end(syscall.SIGTERM)
	looked := make(chan error, 1)
	go func() { looked <- c.Push(ctx, name, "/tmp/file", strings.NewReader("text"), 0o600, 0, 0) }()
	d.start(t)
	if err := <-looked; err != nil {
		t.Error(err)
	}
}

// The daemon goes while it is waited for: the instance itself tells.
func TestLabDaemonLostInWait(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		d, c := labDaemon(t)
		ctx := brief(t, 2*time.Minute)
		name := labInstance(t, c, "wait")
		// This init does not hear the request to stop, so the operation lasts.
		if _, err := c.Exec(ctx, name, ExecRequest{Argv: []string{"kill", "-STOP", "1"}}); err != nil {
			t.Fatal(err)
		}
		stopped := make(chan error, 1)
		go func() { stopped <- c.Stop(ctx, name, false, 5*time.Second) }()
		labBusy(ctx, t, c, name)
		d.end(signal)
		d.start(t)
		err := <-stopped
		if signal == syscall.SIGKILL && (!errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "it is Running now")) {
			t.Errorf("got %v, want ErrUnknown and what it is", err)
		}
		// Asked to go, the daemon sees the operation to its end. What was
		// returned is true either way.
		if s, looked := c.State(ctx, name); looked != nil || (err == nil) != (s.Status == Stopped) {
			t.Errorf("%v: stop returned %v, and it is %s, %v", signal, err, s.Status, looked)
		}
		if again := c.Stop(ctx, name, true, 0); err != nil && again != nil || err == nil && !errors.Is(again, ErrStopped) {
			t.Errorf("%v: with force: %v", signal, again)
		}
	}
}

// A daemon that hangs does not hang its client.
func TestLabDaemonHangs(t *testing.T) {
	d, c := labDaemon(t)
	if err := d.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.cmd.Process.Signal(syscall.SIGCONT) }() // it is killed anyhow
	c.quick = 100 * time.Millisecond
	ctx := brief(t, 20*time.Second)
	_, err := c.Server(ctx)
	for err == nil && sleep(ctx, 10*time.Millisecond) { // its threads stop one after the other
		_, err = c.Server(ctx)
	}
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "it hangs") {
		t.Errorf("got %v", err)
	}
	c.quick = 30 * time.Second
}

// labBusy waits until an operation on the instance runs.
func labBusy(ctx context.Context, t *testing.T, c *Client, name string) {
	t.Helper()
	for {
		var running struct {
			Running []string `json:"running"`
		}
		err := c.get(ctx, request{path: at("operations")}, &running)
		if err == nil && len(running.Running) > 0 {
			return
		}
		if !sleep(ctx, 20*time.Millisecond) {
			t.Fatalf("no operation on %s runs: %v", name, err)
		}
	}
}

// The daemon is killed in the middle of a push: pushing again makes it whole.
func TestLabDaemonKilledInPush(t *testing.T) {
	d, c := labDaemon(t)
	ctx := brief(t, 2*time.Minute)
	name := labInstance(t, c, "push")
	input, feed := io.Pipe()
	pushed := make(chan error, 1)
	go func() { pushed <- c.Push(ctx, name, "/opt/file", input, 0o600, 7, 8) }()
	if _, err := io.WriteString(feed, "half"); err != nil { // the daemon has begun to take it
		t.Fatal(err)
	}
	d.end(syscall.SIGKILL)
	if err := <-pushed; !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
	feed.Close()
	go func() { pushed <- c.Push(ctx, name, "/opt/file", strings.NewReader("whole"), 0o600, 7, 8) }()
	read := make(chan error, 1)
	go func() {
		_, err := c.ReadAt(ctx, name, "/etc/hostname", 0, 100)
		read <- err
	}()
	d.start(t)
	if err := errors.Join(<-pushed, <-read); err != nil {
		t.Error(err)
	}
	res, err := c.Exec(ctx, name, ExecRequest{Argv: []string{"sh", "-c", "stat -c '%a %u %g' /opt/file; cat /opt/file"}})
	if err != nil || string(res.Stdout) != "600 7 8\nwhole" {
		t.Errorf("%q, %v", res.Stdout, err)
	}
}

package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// running starts a command that says when it is up.
func running(t *testing.T, h *Host, script string) (up chan struct{}, end chan error) {
	t.Helper()
	up, end = make(chan struct{}), make(chan error, 1)
	said := false
	go func() {
		_, err := h.Run(deadline(t), Cmd{Argv: []string{"/bin/sh", "-c", script}, Stdout: writerFunc(func([]byte) {
			if !said {
				said = true
				close(up)
			}
		})})
		end <- err
	}()
	select {
	case <-up:
	case err := <-end:
		t.Fatalf("not started: %v", err)
	}
	return up, end
}

func TestE05KilledConnectionIsLostNotFailed(t *testing.T) {
	s := startSSHD(t)
	log := &logLines{}
	h, err := Dial(deadline(t), s.settings(), Options{Log: log.add})
	check(t, err)
	defer h.Close()
	_, end := running(t, h, "echo up; sleep 600")
	s.signalAll(t, syscall.SIGKILL)
	if err := <-end; !errors.Is(err, ErrLost) {
		t.Fatalf("got %v", err)
	}
	// The next use comes back by itself.
	out, err := h.Output(deadline(t), Cmd{Argv: []string{"echo", "again"}}, 100)
	if string(out) != "again\n" || err != nil {
		t.Errorf("after the loss: %q, %v", out, err)
	}
	if log.String() == "" {
		t.Errorf("nobody was told: %s", log)
	}
}

func TestE01SilentConnectionIsNoticed(t *testing.T) {
	s := startSSHD(t)
	settings := s.settings()
	settings.KeepAlive, settings.KeepAliveCount = 100*time.Millisecond, 3
	h := dial(t, settings)
	_, end := running(t, h, "echo up; sleep 600")
	s.signalAll(t, syscall.SIGSTOP)
	select {
	case err := <-end:
		if !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "no answer for 300ms") {
			t.Errorf("got %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("a stopped sshd is not noticed")
	}
	// The listener lives on, so a new connection works.
	if _, err := h.Output(deadline(t), Cmd{Argv: []string{"true"}}, 10); err != nil {
		t.Error(err)
	}
}

func TestClosedHostSaysSo(t *testing.T) {
	h := dial(t, startSSHD(t).settings())
	_, end := running(t, h, "echo up; sleep 600")
	h.Close()
	if err := <-end; !errors.Is(err, ErrLost) || !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	if _, err := h.Run(deadline(t), Cmd{Argv: []string{"true"}}); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestHostThatStaysAwayIsGivenUp(t *testing.T) {
	s := startSSHD(t)
	h, err := Dial(deadline(t), s.settings(), Options{Patience: time.Second})
	check(t, err)
	defer h.Close()
	connections := s.children() // which sshd leaves behind
	check(t, s.process.Signal(syscall.SIGTERM))
	for { // a listener on its way out still takes connections, and drops them
		conn, err := net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(s.port), time.Second)
		if errors.Is(err, syscall.ECONNREFUSED) {
			break
		}
		if err == nil {
			conn.Close()
		}
		check(t, deadline(t).Err())
		time.Sleep(10 * time.Millisecond)
	}
	for _, pid := range connections {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	var failure *DialError
	for {
		_, err := h.Run(deadline(t), Cmd{Argv: []string{"true"}})
		if errors.As(err, &failure) {
			break
		}
		if err != nil && !errors.Is(err, ErrLost) {
			t.Fatalf("got %v", err)
		}
	}
	if failure.Kind != KindRefused {
		t.Errorf("got %v", failure)
	}
}

// A push goes through a proxy that cuts the connection in the middle.
func TestPushIsDoneAgainAfterALoss(t *testing.T) {
	s := startSSHD(t)
	h := dial(t, s.settings())
	dir := t.TempDir()
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<17)
	cut := false
	source := &seekReader{Reader: bytes.NewReader(data), at: len(data) / 2, then: func() {
		if !cut {
			cut = true
			s.signalAll(t, syscall.SIGKILL)
		}
	}}
	pushed, err := h.Push(deadline(t), source, int64(len(data)), sumOf(data), dir+"/file", 0o600)
	if err != nil || pushed.Verified != "sha256" || !cut {
		t.Fatalf("%+v, %v, cut %v", pushed, err, cut)
	}
	onlyFile(t, dir, "file", data)
}

// seekReader calls then once half of it is read.
type seekReader struct {
	*bytes.Reader
	at   int
	then func()
}

func (r *seekReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if int(r.Size())-r.Len() >= r.at {
		r.then()
	}
	return n, err
}

func (r *seekReader) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, struct{ io.Reader }{r}) }

func TestHandshakesAreCounted(t *testing.T) {
	var p pace
	ctx, cancel := context.WithTimeout(deadline(t), 50*time.Millisecond)
	defer cancel()
	for range maxHandshakes {
		check(t, p.wait(ctx, "gpu1"))
	}
	var failure *DialError
	if err := p.wait(ctx, "gpu1"); !errors.As(err, &failure) || failure.Kind != KindBusy {
		t.Errorf("got %v", err)
	}
	for i := range p.made {
		p.made[i] = p.made[i].Add(-handshakeWindow)
	}
	check(t, p.wait(deadline(t), "gpu1"))
}

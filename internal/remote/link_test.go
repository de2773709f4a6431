package remote

import (
	"io"
	"syscall"
	"testing"
	"time"
)

// A lost connection is told at once, the new one when it is there, and closing
// is no loss.
func TestLink(t *testing.T) {
	s := startSSHD(t)
	told := make(chan error, 10)
	h, err := Dial(deadline(t), s.settings(), Options{Link: func(reason error) { told <- reason }})
	check(t, err)
	t.Cleanup(func() { h.Close() })
	next := func() error {
		t.Helper()
		select {
		case reason := <-told:
			return reason
		case <-time.After(20 * time.Second):
			t.Fatal("nothing is told")
			return io.EOF
		}
	}
	for range 2 {
		s.signalAll(t, syscall.SIGKILL)
		if reason := next(); reason == nil {
			t.Error("the loss has no reason")
		}
		if _, err := h.Run(deadline(t), Cmd{Argv: []string{"true"}}); err != nil {
			t.Fatal(err)
		}
		if reason := next(); reason != nil {
			t.Errorf("told %v, want that it is back", reason)
		}
	}
	c, err := h.current()
	check(t, err)
	h.Close()
	<-c.lost
	select {
	case reason := <-told:
		t.Errorf("told %v after Close", reason)
	case <-time.After(50 * time.Millisecond):
	}
}

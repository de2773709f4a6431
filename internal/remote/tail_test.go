package remote

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// appendTo adds to a file.
func appendTo(t testing.TB, file string, data []byte) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	check(t, err)
	_, err = f.Write(data)
	check(t, errors.Join(err, f.Close()))
}

func TestE10TailFollowsOverALostConnection(t *testing.T) {
	s := startSSHD(t)
	h := dial(t, s.settings())
	file := filepath.Join(t.TempDir(), "events")
	var want, got bytes.Buffer
	write := func(data []byte) { want.Write(data); appendTo(t, file, data) }
	stop := errors.New("enough")
	steps := []func(){
		func() { write([]byte("second, partial")) },
		func() { s.signalAll(t, syscall.SIGKILL); write([]byte(" line\n")) },
		func() { write(bytes.Repeat([]byte{0, 255, '\n'}, 1<<19)) },
		func() { s.signalAll(t, syscall.SIGKILL) },
	}
	end := make(chan error, 1)
	go func() {
		end <- h.Tail(deadline(t), file, 0, func(data []byte) error {
			got.Write(data)
			if got.Len() < want.Len() {
				return nil
			}
			if len(steps) == 0 {
				return stop
			}
			steps[0]()
			if steps = steps[1:]; len(steps) == 0 {
				write([]byte("end"))
			}
			return nil
		})
	}()
	// want is touched here before Tail can have called anything: the file is not there yet.
	write([]byte("first\n"))
	if err := <-end; !errors.Is(err, stop) {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("%d bytes of %d, or other ones", got.Len(), want.Len())
	}
}

func TestTailNoticesAnotherFile(t *testing.T) {
	h := dial(t, startSSHD(t).settings())
	for name, change := range map[string]func(file string) error{
		"truncated": func(file string) error { return os.Truncate(file, 2) },
		"removed":   os.Remove,
		"replaced": func(file string) error {
			if err := os.WriteFile(file+".new", []byte("longer than the first"), 0o600); err != nil {
				return err
			}
			return os.Rename(file+".new", file)
		},
	} {
		file := filepath.Join(t.TempDir(), "log")
		check(t, os.WriteFile(file, []byte("skipped,first"), 0o600))
		err := h.Tail(deadline(t), file, 8, func(data []byte) error {
			if string(data) != "first" {
				t.Errorf("%s: got %q", name, data)
			}
			return change(file)
		})
		var replaced *ReplacedError
		if !errors.As(err, &replaced) || replaced.Offset != 13 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTailEndsWithItsContext(t *testing.T) {
	h := dial(t, startSSHD(t).settings())
	file := filepath.Join(t.TempDir(), "log")
	appendTo(t, file, []byte("x"))
	ctx, cancel := context.WithCancel(deadline(t))
	err := h.Tail(ctx, file, 0, func([]byte) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

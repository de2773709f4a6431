package incus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func serverAnswer(auth, server string, extensions []string) string {
	return sync200(fmt.Sprintf(`{"config":{},"api_extensions":["%s"],"api_status":"stable","api_version":"1.0","auth":%q,"public":false,"auth_methods":["tls"],
		"auth_user_name":"root","environment":{"driver":"lxc","kernel":"Linux","kernel_architecture":"x86_64","kernel_version":"6.18.44","os_name":"Debian GNU/Linux",
		"os_version":"12","project":"default","server":%q,"server_version":"6.0.4","storage":"dir","storage_version":"1"}}`, strings.Join(extensions, `","`), auth, server))
}

func TestServer(t *testing.T) {
	root := "GET /1.0?project=default"
	s, err := script(t, "", step{want: root, answer: serverAnswer("trusted", "incus", needed)}).Server(t.Context())
	if want := (Server{Version: "6.0.4", User: "root", Kernel: "6.18.44", Arch: "x86_64", OS: "Debian GNU/Linux 12", Storage: "dir"}); err != nil || s != want {
		t.Errorf("got %+v, %v", s, err)
	}
	for name, c := range map[string]struct {
		answer step
		want   string
	}{
		"untrusted": {step{answer: serverAnswer("untrusted", "", needed)}, "incus-admin"},
		"too old":   {step{answer: serverAnswer("trusted", "incus", needed[2:])}, "it lacks instances, projects"},
		"LXD":       {step{answer: serverAnswer("trusted", "lxd", needed)}, ErrAnswer.Error()},
		"HTML":      {step{answer: "<html>"}, ErrAnswer.Error()},
		"going":     {step{status: 503, answer: going}, ErrShuttingDown.Error()}, // at once: a person waits
		"no answer": {step{status: drop}, "did not answer"},
	} {
		if _, err := script(t, "", c.answer.on(root)).Server(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, c.want)
		}
	}
}

func TestServerNotThere(t *testing.T) {
	socket := socketPath(t)
	c := New(socket, "")
	if _, err := c.Server(t.Context()); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), socket+" is not there") {
		t.Errorf("no socket: %v", err)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket})
	if err != nil {
		t.Fatal(err)
	}
	listener.SetUnlinkOnClose(false)
	listener.Close()
	if _, err := c.Server(t.Context()); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "nobody listens") {
		t.Errorf("nobody listens: %v", err)
	}
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Server(t.Context()); !errors.Is(err, ErrUnreachable) {
		t.Errorf("not a socket: %v", err)
	}
}

// Root may open any socket, so the refusal is made here.
func TestPermission(t *testing.T) {
	denied := &url.Error{Op: "Get", URL: "http://incus/1.0", Err: &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.EACCES)}}
	err := New("/run/incus/unix.socket", "").unanswered(t.Context(), denied)
	if !errors.Is(err, fs.ErrPermission) || refusedForNow(err) || !strings.Contains(err.Error(), "incus-admin") || !strings.Contains(err.Error(), "sudo") {
		t.Errorf("got %v", err)
	}
}

func TestServerHangs(t *testing.T) {
	c := serve(t, "", hangAfter(t, func() {}))
	if _, err := c.Server(brief(t, 50*time.Millisecond)); !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "hangs") {
		t.Errorf("the caller's deadline: got %v", err)
	}
	c.quick = 50 * time.Millisecond
	if _, err := c.Server(t.Context()); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "it hangs") {
		t.Errorf("its own deadline: got %v", err)
	}
	// Other calls have it too, and do not ask a daemon again that hangs.
	_, looked := c.Instance(t.Context(), "x")
	_, read := c.ReadAt(t.Context(), "x", "/a", 0, 1)
	if !errors.Is(looked, context.DeadlineExceeded) || !errors.Is(read, context.DeadlineExceeded) {
		t.Errorf("got %v, %v", looked, read)
	}
}

// A daemon that comes up while a call is on its way is waited for.
func TestDaemonComesUp(t *testing.T) {
	socket := socketPath(t)
	c := New(socket, "")
	got := make(chan error, 1)
	go func() {
		_, err := c.Instance(t.Context(), "x")
		got <- err
	}()
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, sync200(`{"name":"x"}`)) })}
	go server.Serve(listener)
	defer server.Close()
	if err := <-got; err != nil {
		t.Error(err)
	}
	server.Close()
	c.patience = 0
	if _, err := c.Instance(t.Context(), "x"); !errors.Is(err, ErrUnreachable) {
		t.Errorf("away for good: got %v", err)
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		env   map[string]string
		there []string
		want  string
	}{
		{map[string]string{"INCUS_SOCKET": "/a", "INCUS_DIR": "/d"}, []string{"/a", "/d/unix.socket", "/run/incus/unix.socket"}, "/a"},
		{map[string]string{"INCUS_DIR": "/d"}, []string{"/d/unix.socket", "/run/incus/unix.socket"}, "/d/unix.socket"},
		{nil, []string{"/run/incus/unix.socket", "/var/lib/incus/unix.socket"}, "/run/incus/unix.socket"},
		{map[string]string{"INCUS_SOCKET": "/a"}, []string{"/var/lib/incus/unix.socket"}, "/var/lib/incus/unix.socket"},
		{map[string]string{"INCUS_SOCKET": "/a"}, nil, ""},
	} {
		got, err := find(func(k string) string { return c.env[k] }, func(p string) (fs.FileInfo, error) {
			for _, there := range c.there {
				if p == there {
					return nil, nil
				}
			}
			return nil, fs.ErrNotExist
		})
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%v: got %q, %v, want %q", c.env, got, err, c.want)
		}
		if err != nil && (!errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "/a, /run/incus/unix.socket, /var/lib/incus/unix.socket") || !strings.Contains(err.Error(), "INCUS_SOCKET")) {
			t.Errorf("the error does not say where it looked: %v", err)
		}
	}
}

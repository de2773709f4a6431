package incus

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"syscall"
	"testing"
)

// A stream that was pinged, written and closed before anybody read it is read
// to its end all the same.
func TestLastWords(t *testing.T) {
	socket := socketPath(t)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	closed := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			closed <- err
			return
		}
		r, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			closed <- err
			return
		}
		key := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		_, err = conn.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
			base64.StdEncoding.EncodeToString(key[:]) + "\r\n\r\n" +
			"\x89\x00" + "\x82\x03out" + "\x81\x00")) // a ping, a message, the end mark
		closed <- errors.Join(err, conn.Close())
	}()
	c := New(socket, "")
	stream, err := c.dialStream(t.Context(), c.outputs, opPath, "s1")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.CloseNow()
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	kept := &head{limit: 100}
	if whole := drain(t.Context(), stream, kept); !whole || string(kept.bytes()) != "out" {
		t.Errorf("got %q, whole %v", kept.bytes(), whole)
	}
}

func TestLastWordsErrors(t *testing.T) {
	near, far := net.Pipe()
	far.Close()
	if _, err := asLastWords(near).Write([]byte("x")); err == nil {
		t.Error("an error other than a closed far side is swallowed")
	}
	if n, err := asLastWords(failing{err: syscall.EPIPE}).Write([]byte("xyz")); n != 3 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}

type failing struct {
	net.Conn
	err error
}

func (f failing) Write([]byte) (int, error) { return 0, f.err }

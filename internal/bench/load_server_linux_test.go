package bench

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// written is one request as the paced server saw it, on the monotonic clock that
// both sides share. Each write's time is taken just before it.
type written struct {
	First    int // the prompt's first token id, which tells requests of a level apart
	Received time.Duration
	Writes   []time.Duration
}

// machineClock is the monotonic time of this machine, the same in each process.
func machineClock() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// pacedEvents are the writes of an answer of so many tokens: the head with the
// first event, each further event as a chunk of its own, the end with the last.
func pacedEvents(tokens int) [][]byte {
	all := make([][]byte, tokens)
	for n := 1; n <= tokens; n++ {
		finish, end, head := "null", "", ""
		if n == 1 {
			head = "HTTP/1.1 200 OK\r\nserver: paced\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
		}
		if n == tokens {
			finish, end = fmt.Sprintf(`{"type": "length", "length": %d}`, tokens), chunk("data: [DONE]\n\n")+"0\r\n\r\n"
		}
		all[n-1] = []byte(head + chunk(fmt.Sprintf(`data: {"text": " word%d", "output_ids": [%d], "meta_info": {"id": "3f8a1c0e9b7d4f6a8c2e5d1b0a9f7e3c", "finish_reason": %s, `+
			`"prompt_tokens": 128, "weight_version": "default", "total_retractions": 0, "completion_tokens": %d, "cached_tokens": 0}}`+"\n\n", n, n, finish, n)) + end)
	}
	return all
}

// pacedServer answers every request with events at fixed times: the first one
// ttft after the request was read, each further one tpot after the one before.
// It is one epoll loop, so that it takes as little of its core as a server can.
type pacedServer struct {
	ttft, tpot time.Duration
	tokens     int // requests of as many are kept
	epoll      int
	listener   int
	answers    map[int][][]byte
	conns      map[int32]*pacedConn
	first      []*pacedConn // wait for their first event, by the time of it
	next       []*pacedConn // wait for a further one
	kept       []*written
	buf        [64 << 10]byte
}

type pacedConn struct {
	fd     int
	in     []byte
	due    time.Duration
	events [][]byte
	seen   *written
}

// TestLoadServer is no test: it is the process that TestLoad measures against.
func TestLoadServer(t *testing.T) {
	spec, out := loadSpec(t, "server")
	s := &pacedServer{ttft: spec.TTFT, tpot: spec.TPOT, tokens: spec.Tokens, answers: map[int][][]byte{}, conns: map[int32]*pacedConn{}}
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
	writeGob(t, out, s.kept)
}

func (s *pacedServer) run() (err error) {
	if s.epoll, err = unix.EpollCreate1(0); err != nil {
		return err
	}
	if s.listener, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0); err != nil {
		return err
	}
	if err = unix.Bind(s.listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	if err = unix.Listen(s.listener, 4096); err != nil {
		return err
	}
	for _, fd := range []int{s.listener, int(os.Stdin.Fd())} {
		if err = unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}); err != nil {
			return err
		}
	}
	at, err := unix.Getsockname(s.listener)
	if err != nil {
		return err
	}
	fmt.Printf("listening %d\n", at.(*unix.SockaddrInet4).Port)
	events := make([]unix.EpollEvent, 256)
	for {
		s.writeDue()
		n, err := epollUntil(s.epoll, events, s.wait())
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		for _, e := range events[:max(n, 0)] {
			switch int(e.Fd) {
			case int(os.Stdin.Fd()): // the test wants the end
				return nil
			case s.listener:
				s.accept()
			default:
				s.read(s.conns[e.Fd])
			}
		}
	}
}

// wait is how long nothing is due; negative: nothing will be.
func (s *pacedServer) wait() time.Duration {
	next := time.Duration(-1)
	for _, queue := range [][]*pacedConn{s.first, s.next} {
		if len(queue) > 0 && (next < 0 || queue[0].due < next) {
			next = queue[0].due
		}
	}
	if next < 0 {
		return -1
	}
	return max(next-machineClock(), 0)
}

// epollUntil waits with the resolution of nanoseconds.
func epollUntil(epoll int, events []unix.EpollEvent, wait time.Duration) (int, error) {
	n, _, code := epollPwait2(epoll, events, wait)
	if code != 0 {
		return 0, code
	}
	return n, nil
}

func (s *pacedServer) accept() {
	for {
		fd, _, err := unix.Accept4(s.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		s.conns[int32(fd)] = &pacedConn{fd: fd}
		_ = unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
	}
}

// read takes a request, of which the first token id and the number of tokens
// matter. Requests are never sent ahead of an answer's end.
func (s *pacedServer) read(c *pacedConn) {
	if c == nil {
		return
	}
	n, err := unix.Read(c.fd, s.buf[:])
	if err == unix.EAGAIN {
		return
	}
	if n <= 0 {
		unix.Close(c.fd)
		delete(s.conns, int32(c.fd))
		return
	}
	c.in = append(c.in, s.buf[:n]...)
	head, body, ok := bytes.Cut(c.in, []byte("\r\n\r\n"))
	_, length, _ := strings.Cut(string(head), "Content-Length: ")
	if !ok || len(body) < number([]byte(length), 0) {
		return
	}
	tokens := number(after(body, `"max_new_tokens":`), 1)
	c.seen = &written{First: number(after(body, `"input_ids":[`), -1), Received: machineClock(), Writes: make([]time.Duration, 0, tokens)}
	if tokens == s.tokens {
		s.kept = append(s.kept, c.seen)
	}
	if s.answers[tokens] == nil {
		s.answers[tokens] = pacedEvents(tokens)
	}
	c.in, c.events, c.due = c.in[:0], s.answers[tokens], c.seen.Received+s.ttft
	s.first = append(s.first, c)
}

func after(text []byte, key string) []byte {
	_, rest, _ := bytes.Cut(text, []byte(key))
	return rest
}

// writeDue writes every event whose time has come. A late one makes the next one
// of its stream late too: the server is slowed and does not catch up.
func (s *pacedServer) writeDue() {
	for now := machineClock(); ; now = machineClock() {
		var c *pacedConn
		switch {
		case len(s.next) > 0 && s.next[0].due <= now && (len(s.first) == 0 || s.next[0].due <= s.first[0].due):
			c, s.next = s.next[0], s.next[1:]
		case len(s.first) > 0 && s.first[0].due <= now:
			c, s.first = s.first[0], s.first[1:]
		default:
			return
		}
		event := c.events[0]
		c.events = c.events[1:]
		c.seen.Writes = append(c.seen.Writes, now)
		for len(event) > 0 {
			n, err := send(c.fd, event)
			if err != nil && !errors.Is(err, unix.EAGAIN) {
				c.events = nil
				break
			}
			event = event[n:]
		}
		if len(c.events) > 0 {
			c.due += s.tpot
			s.next = append(s.next, c)
		}
	}
}

func writeGob(t *testing.T, path string, value any) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := gob.NewEncoder(f).Encode(value); err != nil {
		t.Fatal(err)
	}
}

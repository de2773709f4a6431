package incus

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

func TestExec(t *testing.T) {
	input := bytes.Repeat([]byte("\x00\xff in"), 20_000)
	c := serveExec(t, `{"command":["/bin/cat","-","a b","","{\"x\":\"$y\"}","ž\n"],"environment":{"A":"x y='$z'","B":""},"cwd":"/usr","user":5,"group":6,
		"wait-for-websocket":true,"interactive":false,"record-output":false}`, func(t *testing.T, s map[string]*websocket.Conn) (string, string) {
		got := hear(t, s["0"])
		say(t, s["1"], got[:10], got[10:])
		say(t, s["2"], "\xfe err")
		return returned("37"), ""
	})
	res, err := c.Exec(t.Context(), "x", ExecRequest{Argv: []string{"/bin/cat", "-", "a b", "", `{"x":"$y"}`, "ž\n"}, Env: []string{"A=x y='$z'", "B="}, Dir: "/usr", User: 5, Group: 6, Stdin: bytes.NewReader(input)})
	if err != nil || res.Code != 37 || !bytes.Equal(res.Stdout, input) || string(res.Stderr) != "\xfe err" || res.Cut {
		t.Errorf("code %d, %d bytes, stderr %q, cut %v, %v", res.Code, len(res.Stdout), res.Stderr, res.Cut, err)
	}
}

// Output beyond the bound is read and dropped: the command must not block.
func TestExecBound(t *testing.T) {
	c := serveExec(t, "", func(t *testing.T, s map[string]*websocket.Conn) (string, string) {
		say(t, s["1"], strings.Repeat("a", 99), strings.Repeat("b", 3<<20))
		say(t, s["2"], strings.Repeat("c", 100))
		return returned("0"), ""
	})
	res, err := c.Exec(t.Context(), "x", ExecRequest{Argv: []string{"yes"}, MaxOutput: 100})
	if err != nil || string(res.Stdout) != strings.Repeat("a", 99)+"b" || len(res.Stderr) != 100 || !res.Cut {
		t.Errorf("stdout %d, stderr %d, cut %v, %v", len(res.Stdout), len(res.Stderr), res.Cut, err)
	}
}

func TestExecEnds(t *testing.T) {
	failed := func(text, code string) (string, string) {
		return refusal(400, text), sync200(`{"id":"335142ff","status":"Failure","status_code":400,"metadata":{"return":` + code + `},"err":"x"}`)
	}
	for name, c := range map[string]struct {
		run  command
		code int
		want error
	}{
		"signal": {func(*testing.T, map[string]*websocket.Conn) (string, string) { return returned("137"), "" }, 137, nil},
		"no such command": {func(*testing.T, map[string]*websocket.Conn) (string, string) {
			return failed("Command not found", "127")
		}, 127, nil},
		"not executable": {func(*testing.T, map[string]*websocket.Conn) (string, string) {
			return failed("Command not executable", "126")
		}, 126, nil},
		"no code":     {func(*testing.T, map[string]*websocket.Conn) (string, string) { return opDone, "" }, 0, ErrAnswer},
		"daemon lost": {func(*testing.T, map[string]*websocket.Conn) (string, string) { return "", "" }, 0, ErrUnknown},
		"failed": {func(*testing.T, map[string]*websocket.Conn) (string, string) {
			return refusal(500, "no space left on device"), sync200(`{"status_code":400,"metadata":{},"err":"x"}`)
		}, 0, ErrPoolFull},
		"forgotten": {func(*testing.T, map[string]*websocket.Conn) (string, string) {
			return refusal(404, "Operation not found"), refusal(404, "x")
		}, 0, ErrNotFound},
	} {
		run := func(t *testing.T, s map[string]*websocket.Conn) (string, string) {
			say(t, s["1"])
			say(t, s["2"])
			return c.run(t, s)
		}
		res, err := serveExec(t, "", run).Exec(t.Context(), "x", ExecRequest{Argv: []string{"a"}})
		if res.Code != c.code || c.want == nil && err != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: got %d, %v, want %d, %v", name, res.Code, err, c.code, c.want)
		}
	}
}

// Output that ends without its mark is not taken for all of it.
func TestExecOutputBreaksOff(t *testing.T) {
	c := serveExec(t, "", func(t *testing.T, s map[string]*websocket.Conn) (string, string) {
		say(t, s["1"], "out")
		return returned("0"), ""
	})
	if res, err := c.Exec(t.Context(), "x", ExecRequest{Argv: []string{"a"}}); !errors.Is(err, ErrAnswer) || string(res.Stdout) != "out" {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestExecKilled(t *testing.T) {
	for name, c := range map[string]struct {
		stdin func(cancel func()) io.Reader
		want  error
	}{
		"the context ends":        {func(cancel func()) io.Reader { return whenRead(func() error { cancel(); return io.EOF }) }, context.Canceled},
		"the input cannot be had": {func(func()) io.Reader { return whenRead(func() error { return io.ErrNoProgress }) }, io.ErrNoProgress},
	} {
		killed := make(chan string, 1)
		client := serveExec(t, "", func(t *testing.T, s map[string]*websocket.Conn) (string, string) {
			kind, text, err := s["control"].Read(context.Background())
			if err != nil || kind != websocket.MessageText {
				t.Errorf("the control stream says %v, %v", kind, err)
			}
			killed <- string(text)
			return returned("137"), ""
		})
		ctx, cancel := context.WithCancel(t.Context())
		_, err := client.Exec(ctx, "x", ExecRequest{Argv: []string{"sleep"}, Stdin: c.stdin(cancel)})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v", name, err)
		}
		if got := <-killed; !sameJSON(got, `{"command":"signal","signal":9}`) {
			t.Errorf("%s: the control stream got %q", name, got)
		}
		cancel()
	}
}

type whenRead func() error

func (w whenRead) Read([]byte) (int, error) { return 0, w() }

// An input that is never read to its end does not hold the call.
func TestExecUnreadInput(t *testing.T) {
	pipe, feed := io.Pipe()
	defer feed.Close()
	c := serveExec(t, "", func(t *testing.T, s map[string]*websocket.Conn) (string, string) {
		say(t, s["1"])
		say(t, s["2"])
		return returned("0"), ""
	})
	if res, err := c.Exec(brief(t, 20*time.Second), "x", ExecRequest{Argv: []string{"true"}, Stdin: pipe}); err != nil || res.Code != 0 {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestExecRefused(t *testing.T) {
	exec := "POST /1.0/instances/x/exec?project=default"
	body := `{"command":["a"],"environment":{},"cwd":"","user":0,"group":0,"wait-for-websocket":true,"interactive":false,"record-output":false}`
	for name, c := range map[string]struct {
		steps []step
		want  error
	}{
		"stopped":     {[]step{{want: exec, body: body, status: 400, answer: refusal(400, "Instance is not running")}, isStatus(Stopped)}, ErrStopped},
		"frozen":      {[]step{{want: exec, body: body, status: 400, answer: refusal(400, "other words")}, isStatus(Frozen)}, ErrFrozen},
		"not there":   {[]step{{want: exec, body: body, status: 404, answer: notFound.answer}}, ErrNotFound},
		"no streams":  {[]step{{want: exec, body: body, answer: accepted}}, ErrAnswer},
		"asked again": {[]step{{want: exec, body: body, status: drop}, {want: exec, body: body, status: 503, answer: going}, {want: exec, body: body, status: 404, answer: notFound.answer}}, ErrNotFound},
	} {
		if _, err := script(t, "", c.steps...).Exec(t.Context(), "x", ExecRequest{Argv: []string{"a"}}); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	for _, r := range []ExecRequest{{}, {Argv: []string{""}}, {Argv: []string{"a", "\xff"}}, {Argv: []string{"a", "b\x00"}}, {Argv: []string{"a"}, Env: []string{"SECRET"}}, {Argv: []string{"a"}, Env: []string{"K=hunter2\xff"}}} {
		_, err := New("/nowhere", "").Exec(t.Context(), "x", r)
		if err == nil || errors.Is(err, ErrUnreachable) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%+v: got %v, want a refusal before anything is sent, without the value", r, err)
		}
	}
}

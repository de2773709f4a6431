package incus

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"
)

// streams are the four connections of a running command.
type streams struct {
	stdin, stdout, stderr, control *websocket.Conn
}

// attach connects to the command within the five seconds that the daemon gives.
// The control stream comes first: the command starts with the other three, and
// when it is short it has ended before a fourth is there.
func (c *Client) attach(ctx context.Context, path string, secrets map[string]string) (*streams, error) {
	ctx, cancel := context.WithTimeout(ctx, execAttach)
	defer cancel()
	control, err := c.dialStream(ctx, c.http, path, secrets["control"])
	s := &streams{control: control}
	if err == nil {
		var group errgroup.Group
		dial := func(conn **websocket.Conn, over *http.Client, name string) {
			group.Go(func() (err error) {
				*conn, err = c.dialStream(ctx, over, path, secrets[name])
				return err
			})
		}
		dial(&s.stdin, c.http, "0")
		dial(&s.stdout, c.outputs, "1")
		dial(&s.stderr, c.outputs, "2")
		if err = group.Wait(); lost(err) {
			err = &Error{Kind: &unknownError{cause: err}} // it starts when the daemon has them all
		}
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (c *Client) dialStream(ctx context.Context, over *http.Client, path, secret string) (*websocket.Conn, error) {
	if secret == "" {
		return nil, &Error{Kind: ErrAnswer, Text: "a stream of the command has no secret"}
	}
	query := url.Values{"secret": {secret}, "project": {c.project}}
	//nolint:bodyclose // the library has closed it, and kept the beginning of a refusal
	conn, resp, err := websocket.Dial(ctx, "ws://incus"+path+"/websocket?"+query.Encode(), &websocket.DialOptions{HTTPClient: over})
	if err == nil {
		conn.SetReadLimit(-1) // messages are read in pieces, never whole
		return conn, nil
	}
	if resp != nil && resp.Body != nil {
		if _, refusal := decode(resp.Body, resp.StatusCode); refusal != nil {
			return nil, refusal
		}
	}
	return nil, c.unanswered(ctx, err)
}

// kill ends the command, though not what it started.
func (s *streams) kill(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	text, err := json.Marshal(map[string]any{"command": "signal", "signal": 9})
	if err != nil {
		return err
	}
	return s.control.Write(ctx, websocket.MessageText, text)
}

// close closes at once, without the handshake: a closed control stream kills
// what still runs.
func (s *streams) close() {
	for _, conn := range []*websocket.Conn{s.stdin, s.stdout, s.stderr, s.control} {
		if conn != nil {
			_ = conn.CloseNow() // it is over either way
		}
	}
}

package sglang

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// Deadlines of the calls. A caller's shorter one wins.
const (
	// HealthTimeout bounds one health probe: the server itself takes up to 20 s,
	// since it generates a token for it and waits for any output.
	HealthTimeout = 25 * time.Second
	// InfoTimeout bounds a call for what the server says of itself. It goes
	// through the scheduler, so it hangs when the scheduler does.
	InfoTimeout = 30 * time.Second
	// GenerateTimeout bounds one short generation. The first one after a start
	// may compile kernels for minutes.
	GenerateTimeout = 15 * time.Minute
)

// maxBody bounds what is read of an answer, in bytes.
const maxBody = 8 << 20

// Client calls one server. It uses no proxy and follows no redirect to another
// host. Safe for concurrent use.
type Client struct {
	base string
	http *http.Client
	key  string
}

// NewClient makes a client for a server's base URL, "http://127.0.0.1:30000".
func NewClient(base string) *Client {
	base = strings.TrimRight(base, "/")
	return &Client{base: base, http: &http.Client{
		Transport: &http.Transport{
			Proxy:               nil,
			DialContext:         (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
			TLSHandshakeTimeout: 5 * time.Second,
			IdleConnTimeout:     30 * time.Second,
			MaxIdleConnsPerHost: 2,
		},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if req.URL.Host != via[0].URL.Host {
				return fmt.Errorf("redirected to another host, %s", Plain(req.URL.Host))
			}
			if len(via) > 3 {
				return errors.New("redirected too often")
			}
			return nil
		},
	}}
}

// WithKey returns a client that sends the server's --api-key.
func (c *Client) WithKey(key string) *Client {
	d := *c
	d.key = key
	return &d
}

// Over returns a client whose requests are carried by t: a server that this
// host cannot dial.
func (c *Client) Over(t http.RoundTripper) *Client {
	d := *c
	d.http = &http.Client{Transport: t, CheckRedirect: c.http.CheckRedirect}
	return &d
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// APIError is an answer that says no.
type APIError struct {
	Path    string
	Status  int    // HTTP status; 200 when the error stands in the body
	Message string // the server's, without control characters
}

func (e *APIError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("%s answered HTTP %d", e.Path, e.Status)
	}
	return fmt.Sprintf("%s answered HTTP %d: %s", e.Path, e.Status, e.Message)
}

// IsTransport reports whether err is a connection that failed or broke, rather
// than an answer, a redirect or the end of the caller's time.
func IsTransport(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && !op.Timeout() || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// Health asks GET /health and returns its status code: 200 when the server is
// up, 503 while it starts or when its scheduler gives no output.
func (c *Client) Health(ctx context.Context) (int, error) {
	status, _, err := c.call(ctx, HealthTimeout, http.MethodGet, "/health", nil)
	return status, err
}

// Models returns the ids of GET /v1/models. The server answers it while its
// own warm-up still runs: it tells what is served, never that it is ready.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := c.ask(ctx, InfoTimeout, http.MethodGet, "/v1/models", nil, &list); err != nil {
		return nil, err
	}
	ids := make([]string, len(list.Data))
	for i, m := range list.Data {
		ids[i] = Plain(m.ID)
	}
	return ids, nil
}

// ask calls and decodes the JSON answer of a 200; anything else is an *APIError.
func (c *Client) ask(ctx context.Context, limit time.Duration, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("encode the request for %s: %w", path, err)
		}
	}
	status, answer, err := c.call(ctx, limit, method, path, body)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return &APIError{Path: path, Status: status, Message: message(answer)}
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("decode the answer of %s%s: %w", c.base, path, err)
	}
	return nil
}

// call makes one request and reads its answer, bounded in time and size.
func (c *Client) call(ctx context.Context, limit time.Duration, method, path string, body []byte) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, fmt.Errorf("call %s%s: %w", c.base, path, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("call %s: %w", path, err) // net/http's error names method and URL
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return resp.StatusCode, nil, fmt.Errorf("read the answer of %s%s: %w", c.base, path, err)
	}
	if len(answer) > maxBody {
		return resp.StatusCode, nil, fmt.Errorf("read the answer of %s%s: more than %d bytes", c.base, path, maxBody)
	}
	return resp.StatusCode, answer, nil
}

// message finds the server's words in an error answer: {"error":{"message":…}},
// {"error":"…"}, {"object":"error","message":…}, {"detail":"…"} or plain text.
func message(answer []byte) string {
	var e struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(answer, &e) != nil {
		return cut(Plain(strings.TrimSpace(string(answer))), maxKept)
	}
	if e.Message != "" {
		return cut(Plain(e.Message), maxKept)
	}
	for _, raw := range []json.RawMessage{e.Error, e.Detail} {
		var inner struct {
			Message string `json:"message"`
		}
		var text string
		switch {
		case json.Unmarshal(raw, &inner) == nil && inner.Message != "":
			return cut(Plain(inner.Message), maxKept)
		case json.Unmarshal(raw, &text) == nil && text != "":
			return cut(Plain(text), maxKept)
		case len(raw) > 0 && string(raw) != "null":
			return cut(Plain(string(raw)), maxKept)
		}
	}
	return ""
}

package bench

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// endpoint is where requests go.
type endpoint struct {
	address string // host:port to dial
	host    string // the Host header
	prefix  string // path before /generate, without a slash at its end
}

// parseEndpoint reads a server's base URL. Only plain HTTP is spoken: a
// measurement through TLS would measure the TLS of this machine too.
func parseEndpoint(raw string) (endpoint, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return endpoint{}, fmt.Errorf("server URL: %w", err)
	}
	if u.Scheme != "http" || u.Hostname() == "" {
		return endpoint{}, fmt.Errorf("server URL %q: want http://HOST:PORT", raw)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return endpoint{}, fmt.Errorf("server URL of %s: credentials, query and fragment are not supported: want http://HOST:PORT", u.Host)
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	return endpoint{address: net.JoinHostPort(u.Hostname(), port), host: u.Host, prefix: strings.TrimSuffix(u.EscapedPath(), "/")}, nil
}

// generate builds one whole request to sglang's own /generate. The prompt goes
// out as token ids, so no tokenizer can change its length; ignore_eos makes the
// server produce as many tokens as are asked for; temperature 0 is what
// sglang.bench_serving sends.
func (e endpoint) generate(ids []int, outputLen int) []byte {
	body := make([]byte, 0, 7*len(ids)+128)
	body = append(body, `{"input_ids":[`...)
	for i, id := range ids {
		if i > 0 {
			body = append(body, ',')
		}
		body = strconv.AppendInt(body, int64(id), 10)
	}
	body = append(body, `],"sampling_params":{"temperature":0.0,"max_new_tokens":`...)
	body = strconv.AppendInt(body, int64(outputLen), 10)
	body = append(body, `,"ignore_eos":true},"stream":true}`...)
	head := fmt.Sprintf("POST %s/generate HTTP/1.1\r\nHost: %s\r\nUser-Agent: sweep\r\nAccept: text/event-stream\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", e.prefix, e.host, len(body))
	return append([]byte(head), body...)
}

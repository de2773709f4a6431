package bench

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// endpoint is where requests go.
type endpoint struct {
	secure  bool           // https
	roots   *x509.CertPool // that a certificate is judged by; nil: those of the system
	address string         // host:port to dial
	host    string         // the Host header
	prefix  string         // path before /generate, without a slash at its end
}

// parseEndpoint reads a server's base URL. A measurement through TLS measures the
// TLS of this machine too, so http is what to use where there is a choice.
func parseEndpoint(raw string) (endpoint, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return endpoint{}, fmt.Errorf("server URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return endpoint{}, fmt.Errorf("server URL %q: want http://HOST:PORT", raw)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return endpoint{}, fmt.Errorf("server URL of %s: credentials, query and fragment are not supported: want http://HOST:PORT", u.Host)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return endpoint{secure: u.Scheme == "https", address: net.JoinHostPort(u.Hostname(), port), host: u.Host, prefix: strings.TrimSuffix(u.EscapedPath(), "/")}, nil
}

// url is where the server answers path.
func (e endpoint) url(path string) string {
	if e.secure {
		return "https://" + e.host + e.prefix + path
	}
	return "http://" + e.host + e.prefix + path
}

// appendGenerate builds the body of a request to sglang's own /generate. The
// prompt goes out as token ids, so no tokenizer can change its length; ignore_eos
// makes the server produce as many tokens as are asked for; temperature 0 is what
// sglang.bench_serving sends.
func appendGenerate(body []byte, ids []int, outputLen int) []byte {
	body = append(body, `{"input_ids":[`...)
	for i, id := range ids {
		if i > 0 {
			body = append(body, ',')
		}
		body = strconv.AppendInt(body, int64(id), 10)
	}
	body = append(body, `],"sampling_params":{"temperature":0.0,"max_new_tokens":`...)
	body = strconv.AppendInt(body, int64(outputLen), 10)
	return append(body, `,"ignore_eos":true},"stream":true}`...)
}

// post is one whole HTTP request.
func (e endpoint) post(path string, body []byte) []byte {
	head := fmt.Sprintf("POST %s%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: sweep\r\nAccept: text/event-stream\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", e.prefix, path, e.host, len(body))
	wire := make([]byte, 0, len(head)+len(body))
	return append(append(wire, head...), body...)
}

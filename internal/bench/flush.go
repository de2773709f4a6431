package bench

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	flushed       = "flushed"
	noCache       = "skipped: radix cache off"
	flushPatience = 15 * time.Second
	flushPause    = 500 * time.Millisecond
)

// flush empties the server's prefix cache (POST /flush_cache). sglang answers
// 400 while requests run or wait, also for a moment after the last answer, so
// it is asked again until patience is over. It returns "flushed", or why not:
// that is a remark on the measurement and no failure.
func flush(ctx context.Context, e endpoint, patience, pause time.Duration) string {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	why := "no answer"
	for {
		status, said, err := post(ctx, e, "/flush_cache")
		switch {
		case err == nil && status/100 == 2:
			return flushed
		case err == nil && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed):
			return fmt.Sprintf("not flushed: the server has no /flush_cache (HTTP %d)", status)
		case err == nil:
			why = fmt.Sprintf("HTTP %d: %s", status, said)
		case ctx.Err() == nil:
			why = plain(err).Error()
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return fmt.Sprintf("not flushed after %s: %s", patience, why)
		}
	}
}

// post sends an empty request and returns the answer's status and first bytes.
func post(ctx context.Context, e endpoint, path string) (status int, said string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url(path), nil)
	if err != nil {
		return 0, "", err
	}
	// A transport of its own: no proxy from the environment, no idle connection left.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: e.roots, MinVersion: tls.VersionTLS12}}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxComplaint+1))
	if err != nil {
		return 0, "", err
	}
	return resp.StatusCode, clean(body, maxComplaint), nil
}

package sglang

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// flushPause is how long to wait before a refused flush is tried again.
const flushPause = 250 * time.Millisecond

// FlushCache empties the prefix cache. The server refuses with 400 while
// requests run or wait, which is tried again until timeout.
func (c *Client) FlushCache(ctx context.Context, timeout time.Duration) error {
	const path = "/flush_cache"
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		status, answer, err := c.call(ctx, timeout, http.MethodPost, path, nil)
		switch {
		case err != nil:
			return fmt.Errorf("flush the prefix cache: %w", err)
		case status == http.StatusOK:
			return nil
		case status != http.StatusBadRequest:
			return fmt.Errorf("flush the prefix cache: %w", &APIError{Path: path, Status: status, Message: message(answer)})
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("flush the prefix cache: requests were still running after %s: %w", timeout,
				&APIError{Path: path, Status: status, Message: message(answer)})
		case <-time.After(flushPause):
		}
	}
}

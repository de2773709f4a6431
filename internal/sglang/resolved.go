package sglang

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// ServerInfo returns what the server says of itself, without secrets: GET
// /server_info (since v0.5.6), or its old name /get_server_info.
func (c *Client) ServerInfo(ctx context.Context) (Resolved, error) {
	var flat map[string]any
	err := c.ask(ctx, InfoTimeout, http.MethodGet, "/server_info", nil, &flat)
	if no := (*APIError)(nil); errors.As(err, &no) && no.Status == http.StatusNotFound {
		err = c.ask(ctx, InfoTimeout, http.MethodGet, "/get_server_info", nil, &flat)
	}
	if err != nil {
		return Resolved{}, fmt.Errorf("read the resolved flags: %w", err)
	}
	return resolve(flat), nil
}

// NoPrefixCache tells that the server runs with --disable-radix-cache, asked
// for or resolved to: it keeps no prefix, and there is nothing to flush.
func (r Resolved) NoPrefixCache() bool {
	off, _ := r.Args["disable_radix_cache"].(bool)
	return off
}

// stateKeys are no arguments: what the server counts and measures stands in
// the same flat object, and may differ between two equal starts.
var stateKeys = []string{"version", "simulated", "status", "internal_states", "max_total_num_tokens", "max_req_input_len",
	"vocab_size", "available_gpu_mem", "available_gpu_memory_gb", "uptime", "last_gen_throughput"}

// resolve sorts the flat answer into what sweep keeps.
func resolve(flat map[string]any) Resolved {
	r := Resolved{Args: map[string]any{}}
	r.Version, _ = flat["version"].(string)
	r.Version = Plain(r.Version)
	r.ModelPath, _ = flat["model_path"].(string)
	r.ModelPath = Plain(r.ModelPath)
	r.Simulated, _ = flat["simulated"].(bool)
	r.MaxTotalTokens = whole(flat["max_total_num_tokens"])
	r.MaxRunningRequests = whole(flat["max_running_requests"])
	r.VocabSize = whole(flat["vocab_size"])
	states, _ := flat["internal_states"].([]any)
	if len(states) > 0 {
		state, _ := states[0].(map[string]any)
		if r.MaxRunningRequests == nil { // not asked for: what each data-parallel rank came to
			r.MaxRunningRequests = whole(state["effective_max_running_requests_per_dp"])
		}
		if r.VocabSize == nil {
			r.VocabSize = whole(state["vocab_size"])
		}
	}
	for key, value := range flat {
		if slices.Contains(stateKeys, key) || strings.HasPrefix(key, "startup_") || secretName(key, value) {
			continue
		}
		if kept, ok := plainValue(value); ok {
			r.Args[Plain(key)] = kept
		}
	}
	return r
}

// whole is a JSON number as an int, null when it is none.
func whole(v any) *int {
	if f, ok := v.(float64); ok && f == float64(int(f)) {
		return new(int(f))
	}
	return nil
}

// plainValue keeps scalars and lists of scalars.
func plainValue(v any) (any, bool) {
	switch v := v.(type) {
	case nil, bool, float64:
		return v, true
	case string:
		return withoutSecrets(Plain(v)), true
	case []any:
		list := make([]any, 0, len(v))
		for _, item := range v {
			if _, nested := item.([]any); nested {
				return nil, false
			}
			kept, ok := plainValue(item)
			if !ok {
				return nil, false
			}
			list = append(list, kept)
		}
		return list, true
	}
	return nil, false
}

// secretName reports whether an argument of this name holds a secret. A token
// is one when it is text; max_prefill_tokens and the like are counts.
func secretName(key string, value any) bool {
	key = strings.ToLower(key)
	for _, part := range []string{"api_key", "apikey", "secret", "password", "passwd", "credential", "private_key", "ssl_key", "access_key", "authorization"} {
		if strings.Contains(key, part) {
			return true
		}
	}
	_, text := value.(string)
	return text && (key == "token" || key == "key" || strings.HasSuffix(key, "_token") || strings.HasSuffix(key, "_key"))
}

// removed stands where a secret was.
const removed = "[removed]"

var (
	secretText  = regexp.MustCompile(`\b(?:hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{16,}|AKIA[A-Z0-9]{12,})|(?i:bearer\s+)[A-Za-z0-9._~+/=-]{8,}`)
	secretField = regexp.MustCompile(`(?i)("[^"]*(?:secret|password|passwd|api_?key|access_?key|_token|credential)"\s*:\s*)"[^"]*"`)
	secretURL   = regexp.MustCompile(`(://)[^/\s:@]+:[^/\s@]+@`)
)

// withoutSecrets removes what looks like a secret inside a text: keys by their
// known shapes, fields of a JSON argument, passwords in a URL.
func withoutSecrets(s string) string {
	s = secretText.ReplaceAllString(s, removed)
	s = secretField.ReplaceAllString(s, `$1"`+removed+`"`)
	return secretURL.ReplaceAllString(s, "$1"+removed+"@")
}

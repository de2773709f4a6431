package incus

import "sync"

// head keeps the first bytes that are written to it and drops the rest.
type head struct {
	limit int

	mu   sync.Mutex
	kept []byte
	cut  bool
}

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := min(len(p), h.limit-len(h.kept))
	h.kept = append(h.kept, p[:n]...)
	h.cut = h.cut || n < len(p)
	return len(p), nil
}

// bytes returns a copy: a stream that is left open may still write.
func (h *head) bytes() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]byte(nil), h.kept...)
}

func (h *head) wasCut() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cut
}

// Package gpu reads GPUs as the host sees them, through nvidia-smi: its
// output is not guaranteed, so every value may be unknown and every call has a
// deadline. It imports nothing of sweep's.
package gpu

// GPU is one card. Null is unknown.
type GPU struct {
	Index       int    `json:"index"`
	UUID        string `json:"uuid"`
	Name        string `json:"name"`
	MemoryUsed  *int64 `json:"memory_used_mib,omitempty"`
	MemoryTotal *int64 `json:"memory_total_mib"`
}

// Process is a compute process on a card, by its host pid.
type Process struct {
	PID        int    `json:"pid"`
	GPU        string `json:"gpu"` // uuid
	MemoryUsed *int64 `json:"memory_used_mib"`
	Name       string `json:"name"`
}

// Package gpu reads GPUs as the host sees them, through nvidia-smi: its
// output is not guaranteed, so every value may be unknown and every call has a
// deadline. It imports nothing of sweep's.
package gpu

// GPU is one card. Null and "" are unknown. All but the first five are only
// asked for by Facts.
type GPU struct {
	Index       int    `json:"index"`
	UUID        string `json:"uuid"`
	Name        string `json:"name"`
	MemoryUsed  *int64 `json:"memory_used_mib,omitempty"`
	MemoryTotal *int64 `json:"memory_total_mib"`

	BusID        string   `json:"bus_id,omitempty"`
	VBIOS        string   `json:"vbios,omitempty"`
	PowerLimit   *float64 `json:"power_limit_w,omitempty"` // that is in force
	MaxSMClock   *int64   `json:"max_sm_clock_mhz,omitempty"`
	PCIeGenMax   *int64   `json:"pcie_gen_max,omitempty"`   // the present one falls while the card idles
	PCIeWidth    *int64   `json:"pcie_width,omitempty"`     // lanes in use; may fall while the card idles
	PCIeWidthMax *int64   `json:"pcie_width_max,omitempty"` // lanes that the card and the slot have
	Persistence  string   `json:"persistence,omitempty"`    // "Enabled", "Disabled"
}

// Process is a compute process on a card, by its host pid.
type Process struct {
	PID        int    `json:"pid"`
	GPU        string `json:"gpu"` // uuid
	MemoryUsed *int64 `json:"memory_used_mib"`
	Name       string `json:"name"`
}

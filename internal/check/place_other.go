//go:build !linux

package check

// Hosts are Linux machines: elsewhere only plans and reports are looked at, and
// none of this is known.

func diskOf(string) *Disk { return nil }

func hardLimits() (memlock, nofile *uint64) { return nil, nil }

func clockSynchronised() *bool { return nil }

func heldPorts([]int) []Held { return nil }

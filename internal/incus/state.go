package incus

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// State is what an instance does at this moment.
type State struct {
	Status     Status
	PID        int       // of its first process, as the host counts; 0 when stopped
	Processes  int       // -1 or 0 where the daemon does not know
	Memory     int64     // bytes in use
	MemoryPeak int64     // bytes, 0 where the kernel does not tell
	Started    time.Time // zero when stopped
	Addresses  []Address // in order of interface names; empty until DHCP is done
}

// Address is one of an instance's network addresses, loopback left out.
type Address struct {
	Interface string // inside
	Addr      netip.Addr
	Global    bool // reachable from beyond the link
}

// State looks at an instance.
func (c *Client) State(ctx context.Context, name string) (State, error) {
	var s struct {
		Status    Status    `json:"status"`
		PID       int       `json:"pid"`
		Processes int       `json:"processes"`
		Started   time.Time `json:"started_at"`
		Memory    struct {
			Usage int64 `json:"usage"`
			Peak  int64 `json:"usage_peak"`
		} `json:"memory"`
		Network map[string]network `json:"network"` // null when stopped
	}
	if err := c.get(ctx, request{path: at("instances", name, "state")}, &s); err != nil {
		return State{}, c.failed(ctx, "look at the state of the instance "+name, err)
	}
	return State{Status: s.Status, PID: s.PID, Processes: s.Processes, Memory: s.Memory.Usage, MemoryPeak: s.Memory.Peak,
		Started: s.Started, Addresses: addresses(s.Network)}, nil
}

type network struct {
	Type      string `json:"type"`
	Addresses []struct {
		Address string `json:"address"`
		Scope   string `json:"scope"`
	} `json:"addresses"`
}

func addresses(networks map[string]network) []Address {
	var all []Address
	for name, n := range networks {
		if n.Type == "loopback" {
			continue
		}
		for _, a := range n.Addresses {
			if addr, err := netip.ParseAddr(a.Address); err == nil && !addr.IsLoopback() {
				all = append(all, Address{Interface: name, Addr: addr, Global: a.Scope == "global"})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Address) int { return strings.Compare(a.Interface, b.Interface) })
	return all
}

// IPv4 is the first address that the host can dial; invalid while there is none.
func (s State) IPv4() netip.Addr {
	for _, a := range s.Addresses {
		if a.Global && a.Addr.Is4() {
			return a.Addr
		}
	}
	return netip.Addr{}
}

//go:build !linux

package launch

// listeners cannot be found without /proc: only a connection tells that a port
// is taken, and nothing tells by whom.
func listeners(int) []listener { return nil }

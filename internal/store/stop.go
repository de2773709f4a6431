package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
)

// StopOrder is what a person asked a night under way to do.
type StopOrder string

// The orders to a night.
const (
	StopNow        StopOrder = "now"         // as Ctrl-C does: no more measuring, teardown finished
	StopAfterLevel StopOrder = "after-level" // the same, once the level in flight is measured
)

// StopAsked is the phase of a Stopping event that tells of an order.
const StopAsked = "asked"

// stopName is the file that carries an order to the runner of a night.
const stopName = "stop"

// Order asks the runner of the night to stop. It may be given again: the last
// one counts.
func (n *Night) Order(o StopOrder) error {
	if o != StopNow && o != StopAfterLevel {
		return fmt.Errorf("ask night %s to stop: there is no order %q", n.id, o)
	}
	// Beside it: a reader sees a whole order or none.
	if err := renameio.WriteFile(filepath.Join(n.dir, stopName), []byte(o+"\n"), 0o600, renameio.WithTempDir(n.dir)); err != nil {
		return fmt.Errorf("ask night %s to stop: %w", n.id, err)
	}
	return nil
}

// Ordered is the order that was given, "" for none.
func (n *Night) Ordered() (StopOrder, error) {
	text, err := readBounded(filepath.Join(n.dir, stopName), 64)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the stop order of night %s: %w", n.id, err)
	}
	switch o := StopOrder(strings.TrimSpace(string(text))); o {
	case StopNow, StopAfterLevel:
		return o, nil
	default:
		return "", fmt.Errorf("the stop order of night %s is %.20q: `now` and `after-level` are orders", n.id, o)
	}
}

// ClearOrder takes an order away, which may not be there: it was carried out,
// or it was meant for a runner that has ended since.
func (n *Night) ClearOrder() error {
	if err := os.Remove(filepath.Join(n.dir, stopName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("take the stop order of night %s away: %w", n.id, err)
	}
	return nil
}

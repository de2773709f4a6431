package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"

	"sweep/internal/bench"
)

const (
	requestsName = "requests.jsonl"
	// maxRequests bounds requests.jsonl, in bytes: a line is some 250 bytes.
	maxRequests = 1 << 30
)

// Requests reads what every request of a measured level experienced. All of
// them are there or it fails: figures counted from a part would mislead.
func (d *Dir) Requests(ref RunRef, attempt int, key string) ([]bench.Request, error) {
	path := filepath.Join(d.LevelDir(ref, attempt, key), requestsName)
	data, err := readBounded(path, maxRequests)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	var all []bench.Request
	for d := json.NewDecoder(bytes.NewReader(data)); d.More(); {
		var r bench.Request
		if err := d.Decode(&r); err != nil {
			return nil, fmt.Errorf("read %s: line %d: %w", path, len(all)+1, err)
		}
		all = append(all, r)
	}
	return all, nil
}

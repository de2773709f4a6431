package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// RunJob is `sweep bench --job JOB --out DIR`: it measures the level of a job
// file and writes DIR/requests.jsonl and, last and atomically,
// DIR/measurement.json. Progress goes to stdout as lines of JSON, at most two a
// second. It returns the exit code: 0 with a measurement, however the level
// ended, and 1 without one, after a line {"error": …}.
func RunJob(ctx context.Context, jobPath, outDir string, stdout io.Writer) int {
	lines := json.NewEncoder(stdout)
	job, err := readJob(jobPath)
	if err == nil {
		_, err = RunInto(ctx, job, outDir, func(p Progress) { _ = lines.Encode(p) })
	}
	if err != nil {
		_ = lines.Encode(map[string]string{"type": "error", "error": clean([]byte(err.Error()), 1000)})
		return 1
	}
	return 0
}

// RunInto is Run that keeps dir/requests.jsonl and, last and atomically,
// dir/measurement.json. Without a measurement it leaves neither. An empty dir
// keeps nothing.
func RunInto(ctx context.Context, job Job, dir string, progress func(Progress)) (m Measurement, err error) {
	if dir == "" {
		return Run(ctx, job, nil, progress)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return m, fmt.Errorf("make the output directory: %w", err)
	}
	// Temporary files are made beside their targets: $TMPDIR may be another disk, or full.
	requests, err := renameio.NewPendingFile(filepath.Join(dir, "requests.jsonl"), renameio.WithTempDir(dir), renameio.WithPermissions(0o644))
	if err != nil {
		return m, fmt.Errorf("write requests.jsonl: %w", err)
	}
	defer func() { err = errors.Join(err, requests.Cleanup()) }()
	buffered := bufio.NewWriter(requests)
	lines := json.NewEncoder(buffered)

	m, err = Run(ctx, job, func(r Request) error { return lines.Encode(r) }, progress)
	if err != nil {
		return m, err
	}
	if err := errors.Join(buffered.Flush(), requests.CloseAtomicallyReplace()); err != nil {
		return m, fmt.Errorf("write requests.jsonl: %w", err)
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return m, fmt.Errorf("encode the measurement: %w", err)
	}
	if err := renameio.WriteFile(filepath.Join(dir, "measurement.json"), append(text, '\n'), 0o644, renameio.WithTempDir(dir)); err != nil {
		return m, fmt.Errorf("write measurement.json: %w", err)
	}
	return m, nil
}

// readJob decodes a job file strictly: it was written by this same version.
func readJob(path string) (Job, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Job{}, fmt.Errorf("read the job: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var job Job
	if err := d.Decode(&job); err != nil {
		return Job{}, fmt.Errorf("read the job %s: %w", path, err)
	}
	return job, nil
}

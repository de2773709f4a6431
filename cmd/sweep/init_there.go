package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"sweep/internal/remote"
	"sweep/internal/sweep"
)

// findingsRequest is what the sweep on another host is told of it.
type findingsRequest struct {
	GPUs      int      `json:"gpus"` // as hosts.yaml says; 0: count them
	Runtime   string   `json:"runtime"`
	ModelDirs []string `json:"model_dirs"`
}

// maxGPUs is more than any host has.
const maxGPUs = 1024

// maxFindings bounds request and answer, in bytes.
const maxFindings = 1 << 20

// starterThere asks another host over SSH. One that hosts.yaml knows and that
// cannot be reached gets what is said there.
func starterThere(ctx context.Context, c *cli.Context, s streams, file string, host sweep.Host) (starter, error) {
	found, err := findingsThere(ctx, c, s, initBeside(file), host)
	var dial *remote.DialError
	switch {
	case err == nil:
		start := starterFor(file, host, found)
		start.Asked = true
		return start, nil
	case c.Context.Err() == nil && host.Address != "" && errors.As(err, &dial):
		tell(s.err, fmt.Sprintf("sweep: %v; the file rests on what hosts.yaml says", err))
		return starterFor(file, host, listedFindings(host)), nil
	}
	return starter{}, err
}

func findingsThere(ctx context.Context, c *cli.Context, s streams, beside string, host sweep.Host) (f findings, err error) {
	place, err := arrive(c, s, host.Alias, beside)
	if err != nil {
		return f, err
	}
	defer place.Close()
	request, err := json.Marshal(findingsRequest{GPUs: host.GPUs, Runtime: host.Container.Runtime, ModelDirs: host.ModelDirs})
	if err != nil {
		return f, fmt.Errorf("encode the question: %w", err)
	}
	var answer bytes.Buffer
	code, err := place.Sweep(ctx, []string{"init", "--tell"}, bytes.NewReader(request), &answer, s.err)
	switch {
	case err != nil:
		return f, atHost(fmt.Errorf("ask %s for its GPUs and models: %w", place.Name(), err))
	case code != exitOK:
		return f, silent(code)
	case answer.Len() > maxFindings:
		return f, fmt.Errorf("%s: the answer has %d bytes", place.Name(), answer.Len())
	}
	if err := json.Unmarshal(answer.Bytes(), &f); err != nil || f.GPUs < 0 || f.GPUs > maxGPUs {
		return f, &codeError{exitHost, fmt.Errorf("%s: init answered %.100q", place.Name(), answer.Bytes())}
	}
	return f, nil
}

// tellFindings answers findingsThere on the host itself.
func tellFindings(ctx context.Context, s streams) error {
	text, err := io.ReadAll(io.LimitReader(s.in, maxFindings))
	if err != nil {
		return fmt.Errorf("read the question: %w", err)
	}
	var r findingsRequest
	if err := json.Unmarshal(text, &r); err != nil {
		return usage("read the question: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, initTime)
	defer cancel()
	host := sweep.Host{Alias: "local", GPUs: r.GPUs, Container: sweep.Container{Runtime: r.Runtime}, ModelDirs: r.ModelDirs}
	return writeJSON(s.out, lookAround(ctx, host, whereToLook(r.ModelDirs)))
}

package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"sweep/internal/sglang"
	"sweep/internal/sweep"
)

// checkModel looks whether a model that is named by its path is all there, as
// the instance sees it: sglang takes a path that does not exist for the name of
// a model on a hub, and a missing shard shows after minutes of loading. A name
// without a path is left to sglang.
func (a *attempt) checkModel(ctx context.Context) *sweep.Failure {
	dir := a.modelPath()
	if a.decision.reattach || a.simulated() || !path.IsAbs(dir) {
		return nil
	}
	err := a.modelThere(ctx, dir)
	if err == nil || stopping(ctx) {
		return nil
	}
	return configFailure(sglang.CodeModelMissing, err, "check flags model-path, and that the directory is mounted in the instance")
}

// modelPath is what the configuration gives as model-path.
func (a *attempt) modelPath() string {
	for _, s := range a.config.Flags {
		if s.Name == "model-path" && len(s.Value.Words) == 1 {
			return s.Value.Words[0]
		}
	}
	return ""
}

// modelThere reads config.json and, where there is an index of shards, looks
// for every one of them.
func (a *attempt) modelThere(ctx context.Context, dir string) error {
	files := a.Runtime.Files(a.instance)
	there := func(name string) error {
		_, err := files.ReadAt(ctx, path.Join(dir, name), 0, 1)
		return err
	}
	if err := there("config.json"); err != nil {
		return fmt.Errorf("the model %s has no readable config.json: %w", dir, err)
	}
	text, err := files.ReadAt(ctx, path.Join(dir, "model.safetensors.index.json"), 0, maxMeasurement)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // one file, or another format: sglang knows better
	}
	var index struct {
		Shards map[string]string `json:"weight_map"` // tensor to file
	}
	if err == nil {
		err = json.Unmarshal(text, &index)
	}
	if err != nil {
		return fmt.Errorf("the model %s has an index of shards that cannot be read: %w", dir, err)
	}
	seen := map[string]bool{}
	var missing []string
	for _, shard := range index.Shards {
		if seen[shard] {
			continue
		}
		seen[shard] = true
		if path.Base(shard) != shard {
			return fmt.Errorf("the model %s names a shard outside itself: %q", dir, shard)
		}
		if there(shard) != nil {
			missing = append(missing, shard)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return fmt.Errorf("the model %s lacks %d of %d shards, first %s", dir, len(missing), len(seen), missing[0])
	}
	return nil
}

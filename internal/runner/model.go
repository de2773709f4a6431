package runner

import (
	"context"
	"errors"
	"maps"

	"sweep/internal/check"
	"sweep/internal/sglang"
	"sweep/internal/sweep"
)

// checkModel looks whether the model is all there, as the instance sees it:
// sglang takes a path that does not exist for the name of a model on a hub, and
// a missing shard shows after minutes of loading. A name that is not in the
// hub's cache is left to sglang. What the look finds, and what else the server
// is made of, goes on record.
func (a *attempt) checkModel(ctx context.Context) *sweep.Failure {
	if a.decision.reattach { // its record has what it was started with
		return nil
	}
	f := &a.record.Fingerprint
	made := a.made(ctx, a.config)
	f.Install, f.Container, f.Unknown = made.Install, made.Container, maps.Clone(made.Unknown)
	if a.simulated() {
		return nil
	}
	delete(f.Unknown, "model")
	model, err := check.Prober{Runtime: a.Runtime, Instance: a.instance}.Examine(ctx, a.config)
	check.Take(f, model, err)
	if model.Trouble == "" || stopping(ctx) {
		return nil
	}
	return configFailure(sglang.CodeModelMissing, errors.New(model.Trouble), "check flags model-path, and that the directory is mounted in the instance")
}

package check

import (
	"context"
	"maps"
	"path"
	"time"

	"sweep/internal/launch"
	"sweep/internal/sweep"
)

// Prober asks, in an instance, what the fingerprint of a server there is made
// of. Each question is bounded.
type Prober struct {
	Runtime  launch.Runtime
	Instance launch.Instance
	Tools    Tools // for the instance's container
}

// madeTime bounds all questions of one fingerprint: a cold file system on a
// busy host is slow.
const madeTime = time.Minute

// Examine looks at a configuration's model where its server will run: Trouble
// says why it cannot be loaded. The error is one of asking.
func (p Prober) Examine(ctx context.Context, c sweep.Configuration) (Model, error) {
	ctx, cancel := context.WithTimeout(ctx, madeTime)
	defer cancel()
	var m Model
	err := Ask(ctx, p.Runtime, p.Instance, verbModel, questionOf(p.Instance, c), &m)
	return m, err
}

// Made is what a configuration's server would be made of: its packages, their
// source, the container and the model. What cannot be told is null, and
// Unknown says why. A simulated server is this very binary and nothing else.
func (p Prober) Made(ctx context.Context, c sweep.Configuration) sweep.Fingerprint {
	ctx, cancel := context.WithTimeout(ctx, madeTime)
	defer cancel()
	f := sweep.Fingerprint{Unknown: map[string]string{}}
	unknown := func(key string, err error, otherwise string) {
		if err != nil {
			otherwise = err.Error()
		}
		f.Unknown[key] = clip(otherwise)
	}
	q := questionOf(p.Instance, c)
	if !p.Instance.OnHost {
		facts, err := containerFacts(ctx, p.Tools, c.Container, p.Instance.Container)
		if f.Container = facts; facts == nil {
			unknown("container", err, "its tool does not tell")
		}
	}
	if simulated(c) {
		f.Packages = map[string]string{"sweep sim": path.Base(p.Instance.Bin)}
		unknown("install", nil, "the server is simulated")
		unknown("model", nil, "the server is simulated")
		return f
	}
	var python Python
	if !asksPython(c.Command) {
		unknown("install", nil, c.Command[0]+" is no Python")
	} else {
		if err := Ask(ctx, p.Runtime, p.Instance, verbInstall, q, &python); err != nil || python.Install == nil {
			unknown("install", err, "sglang's source was not found: "+python.Trouble)
		}
		f.Packages, f.Install = maps.Clone(python.Packages), python.Install
	}
	var m Model
	err := Ask(ctx, p.Runtime, p.Instance, verbModel, q, &m)
	Take(&f, m, err)
	return f
}

// Take puts what Examine found into a fingerprint.
func Take(f *sweep.Fingerprint, m Model, err error) {
	f.Model, f.Caches = m.Facts, m.Caches
	if m.Facts != nil {
		return
	}
	if f.Unknown == nil {
		f.Unknown = map[string]string{}
	}
	switch {
	case err != nil:
		f.Unknown["model"] = clip(err.Error())
	case m.Trouble != "":
		f.Unknown["model"] = clip(m.Trouble)
	case m.Hub:
		f.Unknown["model"] = clip(m.Asked + " is not in the cache " + m.Where)
	default:
		f.Unknown["model"] = "no model-path is given"
	}
}

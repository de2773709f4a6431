package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"sweep/internal/check"
	"sweep/internal/launch"
	"sweep/internal/sweep"
)

// factsAsker asks, once for each distinct container, command, environment and
// model, what a server would be made of. It makes the instances that it asks in
// when it first needs them.
type factsAsker struct {
	rt        launch.Runtime
	night     string
	instances map[string]*launch.Instance // by container; nil where it cannot be had
	made      map[string]sweep.Fingerprint
}

func newFactsAsker(rt launch.Runtime, night string) *factsAsker {
	return &factsAsker{rt: rt, night: night, instances: map[string]*launch.Instance{}, made: map[string]sweep.Fingerprint{}}
}

// owns tells whether an instance is one that questions are asked in.
func (f *factsAsker) owns(name string) bool {
	for _, in := range f.instances {
		if in != nil && in.Name == name {
			return true
		}
	}
	return false
}

// close removes what was made.
func (f *factsAsker) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), teardownTime)
	defer cancel()
	var errs []error
	for _, in := range f.instances {
		if in != nil {
			errs = append(errs, f.rt.Destroy(ctx, *in))
		}
	}
	f.instances = map[string]*launch.Instance{}
	return errors.Join(errs...)
}

// instance is the one that questions about a container are asked in; nil where
// there can be none, which the run that needs the container will say.
func (f *factsAsker) instance(ctx context.Context, c sweep.Container) *launch.Instance {
	text, _ := json.Marshal(c)
	key := string(text)
	if in, ok := f.instances[key]; ok {
		return in
	}
	in := launch.Instance{Name: fmt.Sprintf("sweep-facts-%d-%d", os.Getpid(), len(f.instances)+1)}
	made, err := f.rt.Create(ctx, launch.InstanceSpec{Name: in.Name, Labels: map[string]string{"sweep": f.night}, Origin: check.OriginOf(c)})
	if err != nil {
		f.instances[key] = nil
		_ = f.rt.Destroy(context.WithoutCancel(ctx), in) // half made, perhaps
		return nil
	}
	f.instances[key] = &made
	return &made
}

// made is what a configuration's server would be made of, as far as it can be
// told.
func (n *nightRun) made(ctx context.Context, c sweep.Configuration) sweep.Fingerprint {
	return n.facts.fingerprint(ctx, n.Tools, c)
}

// fingerprint of what a configuration's server would be made of, asked once a
// night. Without an instance to ask in, nothing of it is known.
func (f *factsAsker) fingerprint(ctx context.Context, tools check.Tools, c sweep.Configuration) sweep.Fingerprint {
	if f == nil {
		return sweep.Fingerprint{}
	}
	in := f.instance(ctx, c.Container)
	if in == nil {
		return sweep.Fingerprint{}
	}
	key, _ := json.Marshal([]any{in.Name, c.Command, c.Environ(), c.Unset(), c.EnvFile, check.ModelName(c)})
	made, ok := f.made[string(key)]
	if !ok {
		made = check.Prober{Runtime: f.rt, Instance: *in, Tools: tools}.Made(ctx, c)
		f.made[string(key)] = made
	}
	return made
}

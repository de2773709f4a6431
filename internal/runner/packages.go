package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"sweep/internal/check"
	"sweep/internal/launch"
	"sweep/internal/sweep"
)

// packageTime bounds the question; a cold file system on a busy host is slow.
const packageTime = time.Minute

// factsAsker asks, once for each distinct container, command and environment,
// which packages a server would be made of. It makes the instances that it asks
// in when it first needs them.
type factsAsker struct {
	rt        launch.Runtime
	night     string
	instances map[string]*launch.Instance // by container; nil where it cannot be had
	known     map[string]map[string]string
	made      map[string]sweep.Fingerprint
}

func newFactsAsker(rt launch.Runtime, night string) *factsAsker {
	return &factsAsker{rt: rt, night: night, instances: map[string]*launch.Instance{}, known: map[string]map[string]string{}, made: map[string]sweep.Fingerprint{}}
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
	made, err := f.rt.Create(ctx, launch.InstanceSpec{Name: in.Name, Labels: map[string]string{"sweep": f.night}, Origin: originOf(c)})
	if err != nil {
		f.instances[key] = nil
		_ = f.rt.Destroy(context.WithoutCancel(ctx), in) // half made, perhaps
		return nil
	}
	f.instances[key] = &made
	return &made
}

// packages of a configuration's server; nil where they cannot be asked: the
// command is no Python, or it does not answer.
func (f *factsAsker) packages(ctx context.Context, c sweep.Configuration) map[string]string {
	if f == nil || c.Command[0] != "sweep" && !strings.HasPrefix(path.Base(c.Command[0]), "python") {
		return nil
	}
	in := f.instance(ctx, c.Container)
	if in == nil {
		return nil
	}
	if c.Command[0] == "sweep" { // the simulator is this very binary
		return map[string]string{"sweep sim": path.Base(in.Bin)}
	}
	env := append(c.Environ(), c.Unset()...)
	key := in.Name + "\x00" + c.Command[0] + "\x00" + strings.Join(env, "\x00")
	found, ok := f.known[key]
	if !ok {
		found = f.ask(ctx, *in, c.Command[0], append(append([]string{}, in.Env...), c.Environ()...))
		f.known[key] = found
	}
	return found
}

// fingerprint of what a configuration's server would be made of, asked once a
// night for each distinct container, command, environment and model. Without
// an instance to ask in, nothing of it is known.
func (f *factsAsker) fingerprint(ctx context.Context, c sweep.Configuration) sweep.Fingerprint {
	if f == nil {
		return sweep.Fingerprint{}
	}
	packages := f.packages(ctx, c)
	if f.rt == nil { // a preview makes nothing, and asks nothing
		return sweep.Fingerprint{Packages: packages}
	}
	in := f.instance(ctx, c.Container)
	if in == nil {
		return sweep.Fingerprint{Packages: packages}
	}
	key, _ := json.Marshal([]any{in.Name, c.Command, c.Environ(), c.Unset(), c.EnvFile, check.ModelName(c)})
	made, ok := f.made[string(key)]
	if !ok {
		made = check.Prober{Runtime: f.rt, Instance: *in}.Made(ctx, c)
		f.made[string(key)] = made
	}
	made.Packages = packages
	return made
}

func (f *factsAsker) ask(ctx context.Context, in launch.Instance, python string, env []string) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, packageTime)
	defer cancel()
	result, err := f.rt.Exec(ctx, in, launch.Cmd{Argv: []string{python, "-c", check.PackageScript}, Env: env})
	if err != nil || result.Code != 0 {
		return nil
	}
	return readPackages(result.Stdout)
}

// Packages asks which packages a server of this configuration would be made
// of, run on this machine itself; nil where they cannot be asked.
func Packages(ctx context.Context, c sweep.Configuration) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, packageTime)
	defer cancel()
	ask, err := launch.BareCommand(ctx, []string{c.Command[0], "-c", check.PackageScript}, c.Environ())
	if err != nil {
		return nil
	}
	out, err := ask.Output()
	if err != nil {
		return nil
	}
	return readPackages(out)
}

// readPackages reads what check.PackageScript printed; nil when that is not it.
func readPackages(out []byte) map[string]string {
	var found map[string]string
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if json.Unmarshal(lines[len(lines)-1], &found) != nil {
		return nil
	}
	return found
}

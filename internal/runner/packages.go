package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"path"
	"strings"
	"time"

	"sweep/internal/launch"
	"sweep/internal/sweep"
)

// packageScript prints the versions of what a server is made of. It imports
// nothing heavy: the metadata of installed packages is enough.
const packageScript = `import importlib.metadata as m, json
found = {}
for name in ("sglang", "sgl-kernel", "sglang-kernel", "flashinfer-python", "torch", "triton", "transformers", "nvidia-nccl-cu12", "nvidia-nccl-cu13"):
    try:
        found[name] = m.version(name)
    except Exception:
        pass
print(json.dumps(found))`

// packageTime bounds the question; a cold file system on a busy host is slow.
const packageTime = time.Minute

// factsAsker asks, once for each distinct command and environment, which
// packages a server would be made of.
type factsAsker struct {
	rt       launch.Runtime
	instance launch.Instance
	known    map[string]map[string]string
}

// newFactsAsker makes the instance in which the questions are asked; close
// removes it.
func newFactsAsker(ctx context.Context, rt launch.Runtime, night string) (f *factsAsker, remove func() error, err error) {
	in := launch.Instance{Name: "sweep-facts"}
	remove = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), teardownTime)
		defer cancel()
		return rt.Destroy(ctx, in)
	}
	in, err = rt.Create(ctx, launch.InstanceSpec{Name: in.Name, Labels: map[string]string{"sweep": night}})
	return &factsAsker{rt: rt, instance: in, known: map[string]map[string]string{}}, remove, err
}

// packages of a configuration's server; nil where they cannot be asked: the
// command is no Python, or it does not answer.
func (f *factsAsker) packages(ctx context.Context, c sweep.Configuration) map[string]string {
	if f == nil {
		return nil
	}
	if c.Command[0] == "sweep" { // the simulator is this very binary
		return map[string]string{"sweep sim": path.Base(f.instance.Bin)}
	}
	if !strings.HasPrefix(path.Base(c.Command[0]), "python") {
		return nil
	}
	env := append(c.Environ(), c.Unset()...)
	key := c.Command[0] + "\x00" + strings.Join(env, "\x00")
	found, ok := f.known[key]
	if !ok {
		found = f.ask(ctx, c.Command[0], append(append([]string{}, f.instance.Env...), c.Environ()...))
		f.known[key] = found
	}
	return found
}

func (f *factsAsker) ask(ctx context.Context, python string, env []string) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, packageTime)
	defer cancel()
	result, err := f.rt.Exec(ctx, f.instance, launch.Cmd{Argv: []string{python, "-c", packageScript}, Env: env})
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
	ask, err := launch.BareCommand(ctx, []string{c.Command[0], "-c", packageScript}, c.Environ())
	if err != nil {
		return nil
	}
	out, err := ask.Output()
	if err != nil {
		return nil
	}
	return readPackages(out)
}

// readPackages reads what packageScript printed; nil when that is not it.
func readPackages(out []byte) map[string]string {
	var found map[string]string
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if json.Unmarshal(lines[len(lines)-1], &found) != nil {
		return nil
	}
	return found
}

package check

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path"
	"strings"
	"time"

	"sweep/internal/launch"
	"sweep/internal/sglang"
	"sweep/internal/supervise"
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

// installScript prints where sglang is installed, a digest of its source and
// its commit, without importing it. It stops counting at 20,000 files, 200 MB
// or ten seconds: half a digest would be one that never repeats.
const installScript = `import hashlib, importlib.util, json, os, subprocess, sys, time
sys.path = [p for p in sys.path if p]
out = {"path": "", "digest": "", "files": 0, "revision": ""}
spec = importlib.util.find_spec("sglang")
if spec and spec.submodule_search_locations:
    root = list(spec.submodule_search_locations)[0]
    out["path"] = root
    until, total, whole, total_hash = time.monotonic() + 10, 0, True, hashlib.sha256()
    names = []
    for here, dirs, files in os.walk(root):
        dirs[:] = sorted(d for d in dirs if d != "__pycache__")
        names += [os.path.join(here, f) for f in files if f.endswith(".py")]
        if len(names) > 20000 or time.monotonic() > until:
            whole = False
            break
    for name in sorted(names) if whole else []:
        with open(name, "rb") as f:
            text = f.read()
        total += len(text)
        total_hash.update(b"%s %d\n" % (os.path.relpath(name, root).encode(), len(text)) + text)
        if total > 200 << 20 or time.monotonic() > until:
            whole = False
            break
    out["files"] = len(names)
    if whole:
        out["digest"] = "sha256:" + total_hash.hexdigest()
    try:
        import importlib.metadata as m
        text = m.distribution("sglang").read_text("direct_url.json")
        out["revision"] = json.loads(text)["vcs_info"]["commit_id"]
    except Exception:
        pass
    def git(*words):
        return subprocess.run(["git", "-C", root, "-c", "safe.directory=*", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=5, text=True, check=True).stdout.strip()
    try:
        tracked = git("ls-files", "--", "__init__.py")
        if tracked:
            out["revision"] = git("rev-parse", "HEAD")
            out["dirty"] = bool(git("status", "--porcelain", "--untracked-files=no", "--", "."))
    except Exception:
        pass
print("\n" + json.dumps(out))`

// Python is what the interpreter of a server answered.
type Python struct {
	Packages map[string]string `json:"packages"` // null where it did not answer
	Install  *sweep.Install    `json:"install"`
	Trouble  string            `json:"error"`
}

// Parser is what the installed sglang's own argument parser accepts.
type Parser struct {
	Dump    string  `json:"dump"` // for sglang.ParseFlagDump
	Trouble string  `json:"error"`
	Slow    bool    `json:"slow"` // no answer in time
	Seconds float64 `json:"seconds"`
}

// Times of questions to an interpreter: torch on a cold disk takes long.
const (
	installTime = 30 * time.Second
	parserTime  = 45 * time.Second
)

// asksPython tells whether a command's first word leads to a Python: one
// itself, or sglang's own program, whose first line names its interpreter.
func asksPython(command []string) bool {
	base := path.Base(command[0])
	return strings.HasPrefix(base, "python") || base == "sglang"
}

// interpreter finds the Python that a program is, or is a script of.
func interpreter(q Question, env environment) (string, error) {
	program, err := supervise.Program(q.Program, env.list())
	if err != nil || strings.HasPrefix(path.Base(program), "python") {
		return program, err
	}
	text, err := readSome(program, 256)
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	words := strings.Fields(strings.TrimPrefix(first, "#!"))
	if !strings.HasPrefix(first, "#!") || len(words) == 0 {
		return "", errors.New(program + " is no script of a Python")
	}
	if len(words) > 1 && path.Base(words[0]) == "env" {
		return supervise.Program(words[1], env.list())
	}
	return words[0], nil
}

func tellInstall(ctx context.Context, q Question, env environment) Python {
	ctx, cancel := context.WithTimeout(ctx, installTime)
	defer cancel()
	var p Python
	var err error
	if p.Packages, err = askPackages(ctx, q, env); err != nil {
		p.Trouble = err.Error()
		return p
	}
	if out, err := askPython(ctx, q, env, installScript); err == nil {
		var i sweep.Install
		if json.Unmarshal([]byte(out), &i) == nil && i.Path != "" {
			i.Path, i.Digest, i.Revision = clip(i.Path), clip(i.Digest), clip(i.Revision)
			p.Install = &i
		}
	}
	return p
}

// askPackages asks for versions apart from the rest: they are known at once,
// and a digest on a slow disk must not take them along.
func askPackages(ctx context.Context, q Question, env environment) (map[string]string, error) {
	out, err := askPython(ctx, q, env, packageScript)
	if err != nil {
		return nil, err
	}
	var packages map[string]string
	if json.Unmarshal([]byte(out), &packages) != nil {
		return nil, errors.New("it did not answer in its own words: " + clip(out))
	}
	return packages, nil
}

// Packages are the versions of what a server of a configuration would be made
// of, by package, were it held on this very machine; nil where they cannot be
// asked.
func Packages(ctx context.Context, c sweep.Configuration) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, installTime)
	defer cancel()
	q := questionOf(launch.Instance{Env: launch.BareEnvironment()}, c)
	env, err := q.environment()
	if err != nil {
		return nil
	}
	packages, err := askPackages(ctx, q, env)
	if err != nil {
		return nil
	}
	return packages
}

func tellParser(ctx context.Context, q Question, env environment) Parser {
	ctx, cancel := context.WithTimeout(ctx, parserTime)
	defer cancel()
	began := time.Now()
	out, err := askPython(ctx, q, env, sglang.DumpScript)
	p := Parser{Seconds: time.Since(began).Seconds(), Slow: ctx.Err() != nil}
	if err != nil {
		p.Trouble = err.Error()
		return p
	}
	p.Dump = out
	return p
}

// askPython runs a script in the server's interpreter and environment and
// returns the last line that it printed.
func askPython(ctx context.Context, q Question, env environment, script string) (string, error) {
	program, err := interpreter(q, env)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, program, "-c", script)
	cmd.Env, cmd.Dir = env.list(), "/" // a module in another directory must not be taken for one of these
	out, trouble, code, err := finish(cmd)
	switch {
	case ctx.Err() != nil:
		return "", errors.New("it did not answer in time")
	case err != nil:
		return "", err
	case code != 0:
		return "", errors.New(lastLine(string(out) + "\n" + string(trouble)))
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1], nil
}

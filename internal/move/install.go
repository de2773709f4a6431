package move

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"sweep/internal/remote"
)

// pushTime bounds the push of the program: some 20 MB over a slow link.
const pushTime = 15 * time.Minute

// Installed tells what Install did.
type Installed struct {
	Path   string // over there
	Pushed int64  // bytes; 0: it was there
}

// Install puts a static sweep into the host's cache directory, under a name
// with its hash, and takes old ones away. agent finds one for a platform. A
// full disk is a *remote.FullError.
func (p *Place) Install(ctx context.Context, agent func(ctx context.Context, goos, goarch string) (string, error)) (Installed, error) {
	arch, err := goarch(p.platform.Machine)
	if err != nil {
		return Installed{}, fmt.Errorf("%s: %w", p.Name(), err)
	}
	file, err := agent(ctx, "linux", arch)
	if err != nil {
		return Installed{}, err
	}
	f, err := os.Open(file)
	if err != nil {
		return Installed{}, fmt.Errorf("read the sweep for %s: %w", p.Name(), err)
	}
	defer f.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, f)
	if err != nil {
		return Installed{}, fmt.Errorf("read the sweep for %s: %w", p.Name(), err)
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	dir := path.Join(p.cache, "bin")
	if err := p.mayExecute(ctx, dir); err != nil {
		return Installed{}, err
	}
	name := "sweep-" + sum[:16]
	limited, cancel := context.WithTimeout(ctx, pushTime)
	defer cancel()
	pushed, err := p.host.Push(limited, f, size, sum, path.Join(dir, name), 0o755)
	if err != nil {
		return Installed{}, fmt.Errorf("put sweep on %s: %w", p.Name(), err)
	}
	p.binary = path.Join(dir, name)
	if pushed.Skipped {
		return Installed{Path: p.binary}, nil
	}
	return Installed{Path: p.binary, Pushed: size}, p.prune(ctx, dir, name)
}

// Use takes a program that an earlier Install pushed.
func (p *Place) Use(path string) { p.binary = path }

// Has tells whether a program that an earlier Install pushed is still there.
func (p *Place) Has(ctx context.Context, path string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	entry, err := p.host.Stat(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && entry.Mode.IsRegular(), err
}

func (p *Place) mayExecute(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	may, err := p.host.CanExec(ctx, dir)
	if err != nil {
		return err
	}
	if !may {
		return fmt.Errorf("%s: programs in %s may not be executed (mounted noexec?): set XDG_CACHE_HOME for %s there to a directory that may execute, in ~/.ssh/environment or sshd's SetEnv",
			p.Name(), dir, p.platform.User)
	}
	return nil
}

// pruneScript takes away what no process runs, of names that only sweep gives.
const pruneScript = `cd "$1" || exit 0
used=$(ls -l /proc/[0-9]*/exe 2>/dev/null)
find . -type f -name 'sweep-*' -mtime +6 | while IFS= read -r f; do
  f=${f#./}
  case $f in "$2"|*[!a-z0-9-]*) continue;; esac
  case $used in *"/$f"*) continue;; esac
  rm -f -- "$f"
done`

// prune removes sweeps of a week ago and more. What it cannot do is left for
// the next time.
func (p *Place) prune(ctx context.Context, dir, current string) error {
	limited, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	_, err := p.host.Output(limited, remote.Cmd{Argv: []string{"/bin/sh", "-c", pruneScript, "sh", dir, current}, Sudo: p.host.Settings().Sudo}, 64<<10)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_ = err // old programs do no harm
	return nil
}

package launch

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// home is where sweep's things are in a container.
type home struct{ bin string } // the sweep binary there

// binary is a sweep on this host that runs in any container of its platform.
func (c *Containers) binary(ctx context.Context) (string, error) {
	c.binMu.Lock() // not mu: to hash a binary takes a while
	defer c.binMu.Unlock()
	if _, err := os.Stat(c.bin); c.bin != "" && err == nil {
		return c.bin, nil
	}
	var err error
	if c.agent != "" {
		c.bin, err = CacheBinary(ctx, c.agent, c.cache)
	} else {
		c.bin, err = CachedBinary(ctx, c.cache)
	}
	if err == nil {
		if err = CheckStatic(c.bin); err != nil {
			err = fmt.Errorf("%w; build sweep with CGO_ENABLED=0, or name a static one with --agent FILE", err)
		}
	}
	if err == nil { // a container's root is another user of this host, and sees it through a mount
		err = os.Chmod(filepath.Dir(c.bin), 0o755)
	}
	if err != nil {
		c.bin = ""
	}
	return c.bin, err
}

// CheckStatic tells whether a program needs nothing but the kernel: one that
// was built with cgo asks for the C library of the machine it was built on,
// which a container with another one does not have.
func CheckStatic(path string) error { return CheckProgram(path, "linux", "") }

// machines are the ELF machines of Go's architectures.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "riscv64": elf.EM_RISCV, "ppc64le": elf.EM_PPC64, "s390x": elf.EM_S390}

// CheckProgram tells whether a program is a static one for a platform, in Go's
// words; goarch "" is any.
func CheckProgram(path, goos, goarch string) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("%s is no program of %s: %w", path, goos, err)
	}
	defer f.Close()
	if goos != "linux" {
		return fmt.Errorf("%s is a Linux program, not one of %s", path, goos)
	}
	if want, ok := machines[goarch]; ok && f.Machine != want {
		return fmt.Errorf("%s is a program for %s, not for %s", path, f.Machine, goarch)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			text := make([]byte, min(p.Filesz, 256))
			_, _ = p.ReadAt(text, 0)
			return fmt.Errorf("%s was built with cgo and needs %s, which a container or another host need not have", path, strings.TrimRight(string(text), "\x00"))
		}
	}
	return nil
}

// findScript looks where a sweep of this hash is in a container, and runs it:
// a directory that may not execute is no place for it.
const findScript = `for d in /var/lib/sweep "${HOME:-/nonexistent}/.cache/sweep" /var/tmp/sweep /tmp/sweep; do
  [ -x "$d/bin/$1" ] && "$d/bin/$1" inside hello >/dev/null 2>&1 && { echo "$d/bin/$1"; exit 0; }
done
exit 9`

// installScript puts the program that comes on its input into one directory
// and proves that it runs there. It is given the name, the size and the
// directory, and needs a shell, cat, mv, chmod, mkdir and wc.
const installScript = `umask 022
d=$3; [ "$d" != cache ] || d="${HOME:-/nonexistent}/.cache/sweep"
t=$d/bin/.new.$$
mkdir -p "$d/bin" 2>/dev/null || { echo "$d cannot be made" >&2; exit 8; }
if ! { cat >"$t"; } 2>/dev/null || [ "$(wc -c <"$t" 2>/dev/null)" != "$2" ]; then
  rm -f "$t" 2>/dev/null; echo "$d is full or read-only" >&2; exit 8
fi
chmod 755 "$t"
said=$("$t" inside hello 2>&1) || { rm -f "$t"; echo "in $d it does not run ($said)" >&2; exit 8; }
mv -f "$t" "$d/bin/$1" && echo "$d/bin/$1"`

// installDirs are tried in this order; cache is the user's.
var installDirs = []string{insideHome, "cache", "/var/tmp/sweep", "/tmp/sweep"}

// home finds the sweep binary in a container, or puts it there.
func (c *Containers) home(ctx context.Context, name string) (home, error) {
	c.mu.Lock()
	known, ok := c.homes[name]
	c.mu.Unlock()
	if ok {
		return known, nil
	}
	bin, err := c.binary(ctx)
	if err != nil {
		return home{}, err
	}
	var found string
	err = again(ctx, func() error {
		found, err = c.place(ctx, name, bin)
		return err
	})
	if err != nil {
		return home{}, fmt.Errorf("put sweep's binary into the container %s: %w", name, err)
	}
	h := home{bin: found}
	c.mu.Lock()
	c.homes[name] = h
	c.mu.Unlock()
	return h, nil
}

func (c *Containers) forget(name string) {
	c.mu.Lock()
	delete(c.homes, name)
	delete(c.inits, name)
	c.mu.Unlock()
}

func (c *Containers) place(ctx context.Context, name, bin string) (string, error) {
	found, _, code, err := c.shell(ctx, name, nil, findScript, filepath.Base(bin))
	if err != nil || code == 0 {
		return found, err
	}
	if code == 126 || code == 127 {
		return "", fmt.Errorf("%w: it has no /bin/sh that runs, which is needed to put a file there", ErrOrigin)
	}
	if code != 9 {
		return "", fmt.Errorf("its shell /bin/sh ended with exit status %d: %s", code, found)
	}
	program, err := os.ReadFile(bin)
	if err != nil {
		return "", err
	}
	var reasons []string
	for _, dir := range installDirs {
		found, why, code, err := c.shell(ctx, name, program, installScript, filepath.Base(bin), fmt.Sprint(len(program)), dir)
		if err != nil {
			return "", err
		}
		if code == 0 && path.IsAbs(found) {
			return found, nil
		}
		reasons = append(reasons, cmp.Or(why, fmt.Sprintf("%s: exit status %d", dir, code)))
	}
	return "", fmt.Errorf("%w: no directory takes it and lets it run: %s", ErrOrigin, strings.Join(reasons, "; "))
}

// shell runs one of the scripts above, whose text is constant: what varies are
// its arguments.
func (c *Containers) shell(ctx context.Context, name string, stdin []byte, script string, args ...string) (out, errs string, code int, err error) {
	var stdout, stderr bounded
	code, err = c.engine.run(ctx, name, append([]string{"/bin/sh", "-c", script, "sh"}, args...), bytes.NewReader(stdin), &stdout, &stderr)
	if err != nil {
		return "", "", code, err
	}
	if ctx.Err() != nil {
		return "", "", code, ctx.Err()
	}
	out, errs = strings.TrimSpace(string(stdout.bytes())), oneLine(stderr.bytes())
	if code == 0 && out == "" {
		return "", "", code, errors.New("its shell said nothing: is /bin/sh there?")
	}
	return out, errs, code, nil
}

package runtimetest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sweep/internal/launch"
)

// Runtimes that break one promise each. The suite is worth something only if
// it notices.

type dropsEmptyArgs struct{ underTest }

func (r dropsEmptyArgs) Exec(ctx context.Context, in launch.Instance, cmd launch.Cmd) (launch.ExecResult, error) {
	cmd.Argv = slices.DeleteFunc(slices.Clone(cmd.Argv), func(a string) bool { return a == "" })
	return r.underTest.Exec(ctx, in, cmd)
}

type joinsArgs struct{ underTest } // as a remote shell does

func (r joinsArgs) Exec(ctx context.Context, in launch.Instance, cmd launch.Cmd) (launch.ExecResult, error) {
	cmd.Argv = []string{"/bin/sh", "-c", strings.Join(cmd.Argv, " ")}
	return r.underTest.Exec(ctx, in, cmd)
}

type losesExitCode struct{ underTest }

func (r losesExitCode) Exec(ctx context.Context, in launch.Instance, cmd launch.Cmd) (launch.ExecResult, error) {
	res, err := r.underTest.Exec(ctx, in, cmd)
	res.Code = 0
	return res, err
}

type ignoresCtx struct{ underTest }

func (r ignoresCtx) Exec(ctx context.Context, in launch.Instance, cmd launch.Cmd) (launch.ExecResult, error) {
	go func() { _, _ = r.underTest.Exec(context.WithoutCancel(ctx), in, cmd) }()
	<-ctx.Done() // leaves the command running, as a closed connection does
	return launch.ExecResult{}, ctx.Err()
}

type keepsAllOutput struct{ underTest }

func (r keepsAllOutput) Exec(ctx context.Context, in launch.Instance, cmd launch.Cmd) (launch.ExecResult, error) {
	res, err := r.underTest.Exec(ctx, in, cmd)
	res.Stdout = append(res.Stdout, 'o')
	return res, err
}

type listsForeign struct{ underTest }

func (r listsForeign) List(context.Context) ([]launch.Instance, error) {
	entries, err := os.ReadDir(filepath.Join(r.state, "instances"))
	var list []launch.Instance
	for _, e := range entries {
		list = append(list, launch.Instance{Name: e.Name(), Labels: labels()})
	}
	return list, err
}

type removesForeign struct{ underTest }

func (r removesForeign) Destroy(_ context.Context, in launch.Instance) error {
	return os.RemoveAll(filepath.Join(r.state, "instances", in.Name))
}

type labelsLate struct{ underTest }

func (r labelsLate) List(ctx context.Context) ([]launch.Instance, error) {
	list, err := r.underTest.List(ctx)
	for i := range list {
		list[i].Labels = nil
	}
	return list, err
}

// leavesTree lets go of what is held; the test ends it.
type leavesTree struct{ underTest }

func (r leavesTree) Destroy(_ context.Context, in launch.Instance) error {
	dir := filepath.Join(r.state, "instances", in.Name)
	return os.Rename(dir, dir+".left")
}

type putsInPlace struct{ underTest }

func (r putsInPlace) Files(launch.Instance) launch.Files {
	return inPlace{r.underTest.Files(launch.Instance{})}
}

type inPlace struct{ launch.Files }

func (inPlace) Put(_ context.Context, path string, data io.Reader, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, data)
	return errors.Join(err, f.Close())
}

type putsNoParents struct{ underTest }

func (r putsNoParents) Files(launch.Instance) launch.Files {
	return noParents{r.underTest.Files(launch.Instance{})}
}

type noParents struct{ launch.Files }

func (f noParents) Put(ctx context.Context, path string, data io.Reader, mode fs.FileMode) error {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return err
	}
	return f.Files.Put(ctx, path, data, mode)
}

type readsMissingAsEmpty struct{ underTest }

func (r readsMissingAsEmpty) Files(launch.Instance) launch.Files {
	return emptyMissing{r.underTest.Files(launch.Instance{})}
}

type emptyMissing struct{ launch.Files }

func (f emptyMissing) ReadAt(ctx context.Context, path string, offset int64, max int) ([]byte, error) {
	text, err := f.Files.ReadAt(ctx, path, offset, max)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

func TestBrokenRuntimesAreNoticed(t *testing.T) {
	cache := t.TempDir()
	checks := map[string]Check{}
	for _, c := range Checks() {
		checks[c.Name] = c
	}
	for _, c := range []struct {
		name    string
		breaks  func(u underTest) launch.Runtime
		noticed string
	}{
		{"drops empty arguments", func(u underTest) launch.Runtime { return dropsEmptyArgs{u} }, "E04 argv arrives byte for byte"},
		{"joins arguments", func(u underTest) launch.Runtime { return joinsArgs{u} }, "E04 argv arrives byte for byte"},
		{"loses the exit code", func(u underTest) launch.Runtime { return losesExitCode{u} }, "exit codes arrive"},
		{"ignores ctx", func(u underTest) launch.Runtime { return ignoresCtx{u} }, "the end of ctx kills the command"},
		{"keeps all output", func(u underTest) launch.Runtime { return keepsAllOutput{u} }, "E14 big output is drained and bounded"},
		{"lists foreign", func(u underTest) launch.Runtime { return listsForeign{u} }, "a foreign instance is left alone"},
		{"removes foreign", func(u underTest) launch.Runtime { return removesForeign{u} }, "a foreign instance is left alone"},
		{"labels late", func(u underTest) launch.Runtime { return labelsLate{u} }, "an instance is labelled from the beginning"},
		{"leaves the tree", func(u underTest) launch.Runtime { return leavesTree{u} }, "destroy ends every held tree"},
		{"destroy cannot be repeated", func(u underTest) launch.Runtime { return leavesTree{u} }, "destroy may come early, late and twice"},
		{"puts in place", func(u underTest) launch.Runtime { return putsInPlace{u} }, "put is atomic"},
		{"a failed put truncates", func(u underTest) launch.Runtime { return putsInPlace{u} }, "a put that fails changes nothing"},
		{"puts no parents", func(u underTest) launch.Runtime { return putsNoParents{u} }, "put makes parents and sets the mode"},
		{"reads missing files as empty", func(u underTest) launch.Runtime { return readsMissingAsEmpty{u} }, "a missing file is fs.ErrNotExist"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check, ok := checks[c.noticed]
			if !ok {
				t.Fatalf("there is no check %q", c.noticed)
			}
			ctx, cancel := context.WithTimeout(t.Context(), checkTime)
			defer cancel()
			u := newProcess(t, cache)
			err := check.Func(ctx, c.breaks(u))
			if err == nil || errors.Is(err, errSkip) {
				t.Errorf("%q does not notice a runtime that %s: %v", c.noticed, c.name, err)
			}
			t.Log(err)
			for _, pid := range Marked(Prefix()) {
				killOwn(t, pid)
			}
		})
	}
}

// killOwn ends a process that a broken runtime left: its arguments carry a
// marker of these checks, and no other test of this package runs meanwhile.
func killOwn(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
}

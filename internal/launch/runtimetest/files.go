package runtimetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing/iotest"

	"sweep/internal/launch"
)

func filesChecks() []Check {
	return []Check{
		inInstance("put makes parents and sets the mode", putParents),
		inInstance("put is atomic", putAtomic),
		inInstance("a put that fails changes nothing", putFails),
		inInstance("read at offsets", readOffsets),
		inInstance("a missing file is fs.ErrNotExist", readMissing),
	}
}

func putParents(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	files, at := rt.Files(in), path.Join(in.Dir, "made", "on the way", "script")
	if err := files.Put(ctx, at, strings.NewReader("#!/bin/sh\necho ran\n"), 0o755); err != nil {
		return err
	}
	res, err := rt.Exec(ctx, in, launch.Cmd{Argv: []string{at}})
	if err != nil || string(res.Stdout) != "ran\n" {
		return broken(err, "a script that was put with mode 0755: %+v", res)
	}
	if err := files.Put(ctx, at, strings.NewReader("secret"), 0o600); err != nil {
		return fmt.Errorf("put over it: %w", err)
	}
	mode, err := sh(ctx, rt, in, `stat -c %a "$1"`, at)
	if err != nil || mode != "600\n" {
		return broken(err, "put with mode 0600 gives %q", mode)
	}
	return nil
}

// putAtomic reads while a put is half-way.
func putAtomic(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	files, at := rt.Files(in), path.Join(in.Dir, "file")
	before, after := []byte("the old content"), bytes.Repeat([]byte("new"), 100_000)
	if err := files.Put(ctx, at, bytes.NewReader(before), 0o600); err != nil {
		return err
	}
	data, feed := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := files.Put(ctx, at, data, 0o600)
		data.CloseWithError(err)
		done <- err
	}()
	_, feedErr := feed.Write(after[:len(after)/2])
	half, err := files.ReadAt(ctx, at, 0, 1<<20)
	_, restErr := feed.Write(after[len(after)/2:])
	feed.Close()
	if err := errors.Join(err, feedErr, restErr, <-done); err != nil {
		return err
	}
	if !bytes.Equal(half, before) {
		return fmt.Errorf("half-way through a put a reader sees %d bytes, %.40q, want all of the old", len(half), half)
	}
	got, err := files.ReadAt(ctx, at, 0, 1<<20)
	if err != nil || !bytes.Equal(got, after) {
		return broken(err, "after the put: %d bytes, want %d", len(got), len(after))
	}
	return nil
}

func putFails(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	files, at := rt.Files(in), path.Join(in.Dir, "sub", "file")
	if err := files.Put(ctx, at, strings.NewReader("old"), 0o600); err != nil {
		return err
	}
	torn := io.MultiReader(strings.NewReader("new but not all"), iotest.ErrReader(errors.New("the link went")))
	if err := files.Put(ctx, at, torn, 0o600); err == nil {
		return errors.New("a put whose data ends with an error gives none")
	}
	if got, err := files.ReadAt(ctx, at, 0, 100); err != nil || string(got) != "old" {
		return broken(err, "after a failed put: %q, want the old content", got)
	}
	left, err := sh(ctx, rt, in, `ls -A "$1"`, path.Dir(at))
	if err != nil || left != "file\n" {
		return broken(err, "a failed put left %q", left)
	}
	return nil
}

func readOffsets(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	all := make([]byte, 300_000)
	for i := range all {
		all[i] = byte(i * i >> 3)
	}
	files, at := rt.Files(in), path.Join(in.Dir, "file")
	if err := files.Put(ctx, at, bytes.NewReader(all), 0o600); err != nil {
		return err
	}
	for _, c := range []struct{ offset, max, want int }{
		{0, 10, 10}, {7, 1000, 1000}, {299_990, 1000, 10}, {300_000, 10, 0}, {999_999, 10, 0}, {5, 0, 0}, {0, 1 << 20, 300_000},
	} {
		got, err := files.ReadAt(ctx, at, int64(c.offset), c.max)
		if err != nil || len(got) != c.want || c.want > 0 && !bytes.Equal(got, all[c.offset:c.offset+c.want]) {
			return broken(err, "read %d bytes at %d: %d bytes, want %d as written", c.max, c.offset, len(got), c.want)
		}
	}
	// A log that grows is read on from where the last read ended.
	if _, err := sh(ctx, rt, in, `printf grown >>"$1"`, at); err != nil {
		return err
	}
	if got, err := files.ReadAt(ctx, at, int64(len(all)), 100); err != nil || string(got) != "grown" {
		return broken(err, "read on after it grew: %q", got)
	}
	return nil
}

func readMissing(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	for _, at := range []string{path.Join(in.Dir, "not-there"), "/nowhere/at/all"} {
		if got, err := rt.Files(in).ReadAt(ctx, at, 0, 10); !errors.Is(err, fs.ErrNotExist) {
			return broken(err, "read %s: %q without fs.ErrNotExist", at, got)
		}
	}
	return nil
}

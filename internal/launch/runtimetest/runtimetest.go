// Package runtimetest is the contract of launch.Runtime as checks, which every
// runtime passes in a test of its own:
//
//	func TestContract(t *testing.T) { runtimetest.Run(t, newRuntime) }
//
// The checks need /bin/sh, coreutils or busybox, and setsid in the instance, and
// see its processes from this host's /proc. The instance's Bin must answer
// `supervise`; in a test that is the test binary, whose TestMain calls
// supervise.Main when its first argument says so.
package runtimetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"sweep/internal/launch"
)

// Check is one promise. It returns why the runtime breaks it. It cleans up
// behind itself.
type Check struct {
	Name string
	Func func(ctx context.Context, rt launch.Runtime) error
}

// ForeignMaker is what a runtime under test implements so that it can be
// checked to leave alone what sweep did not make.
type ForeignMaker interface {
	// MakeForeign makes an instance by other means than the runtime's, without
	// sweep's labels. there tells whether it is still as it was.
	MakeForeign(ctx context.Context, name string) (there func() bool, remove func() error, err error)
}

// checkTime bounds one check.
const checkTime = 2 * time.Minute

// errSkip is returned by a check that does not apply.
var errSkip = errors.New("needs a runtime that implements ForeignMaker")

// Checks are all promises, in an order that is good to read.
func Checks() []Check {
	var all []Check
	for _, some := range [][]Check{instanceChecks(), execChecks(), filesChecks(), holdChecks()} {
		all = append(all, some...)
	}
	return all
}

// Run runs each check on a runtime of its own.
func Run(t *testing.T, newRuntime func(t *testing.T) launch.Runtime) {
	for _, c := range Checks() {
		t.Run(strings.ReplaceAll(c.Name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), checkTime)
			defer cancel()
			switch err := c.Func(ctx, newRuntime(t)); {
			case errors.Is(err, errSkip):
				t.Skip(err)
			case err != nil:
				t.Error(err)
			}
		})
	}
}

// Prefix begins every instance name and every process marker that the checks
// make in this process, so that a test can look for what was left, and only that.
func Prefix() string { return fmt.Sprintf("sweep-contract-%d-", os.Getpid()) }

func unique() string { return Prefix() + strings.ToLower(rand.Text()[:12]) }

func labels() map[string]string { return map[string]string{"sweep": "contract", "run": "r1"} }

// withInstance makes an instance for body and destroys it afterwards.
func withInstance(ctx context.Context, rt launch.Runtime, body func(in launch.Instance) error) (err error) {
	spec := launch.InstanceSpec{Name: unique(), Labels: labels()}
	defer func() {
		err = errors.Join(err, destroy(ctx, rt, launch.Instance{Name: spec.Name}))
	}()
	in, err := rt.Create(ctx, spec)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	return body(in)
}

func destroy(ctx context.Context, rt launch.Runtime, in launch.Instance) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err := rt.Destroy(ctx, in); err != nil {
		return fmt.Errorf("destroy: %w", err)
	}
	return nil
}

// inInstance makes a check of something that happens in one instance.
func inInstance(name string, body func(ctx context.Context, rt launch.Runtime, in launch.Instance) error) Check {
	return Check{name, func(ctx context.Context, rt launch.Runtime) error {
		return withInstance(ctx, rt, func(in launch.Instance) error { return body(ctx, rt, in) })
	}}
}

// broken is a promise that was not kept, and the error, if any, that came with it.
func broken(err error, format string, args ...any) error {
	return errors.Join(fmt.Errorf(format, args...), err)
}

// sh runs a script that is expected to succeed and returns what it wrote.
func sh(ctx context.Context, rt launch.Runtime, in launch.Instance, script string, args ...string) (string, error) {
	res, err := rt.Exec(ctx, in, launch.Cmd{Argv: append([]string{"/bin/sh", "-c", script, "sh"}, args...)})
	if err != nil {
		return "", fmt.Errorf("exec %q: %w", script, err)
	}
	if res.Code != 0 {
		return "", fmt.Errorf("exec %q: code %d, stderr %q", script, res.Code, res.Stderr)
	}
	return string(res.Stdout), nil
}

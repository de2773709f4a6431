package bench

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// With too few open files allowed, the client says so before it sends anything,
// names the side and the number. A soft limit is raised.
func TestC20OpenFilesLimit(t *testing.T) {
	const again = "SWEEP_TEST_UNDER_A_LIMIT"
	if os.Getenv(again) != "" {
		f := newFake(t, well)
		_, err := Run(t.Context(), f.job(300, 600, 2), nil, nil)
		for _, want := range []string{"in the client", "need 364 open files", "hard limit is 256"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %q", err, want)
			}
		}
		if calls, _, _, _ := f.seen(); len(calls) != 0 {
			t.Errorf("%d requests were sent all the same", len(calls))
		}
		if _, err := Run(t.Context(), f.job(30, 60, 2), nil, nil); err != nil {
			t.Errorf("30 connections under a limit of 256: %v", err)
		}
		return
	}
	cmd := exec.Command("/bin/sh", "-c", `ulimit -n 256 && exec "$0" -test.run='^TestC20OpenFilesLimit$' -test.v`, os.Args[0])
	cmd.Env = append(os.Environ(), again+"=1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestC20OpenFilesLimit") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSoftLimitIsRaised(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before) })
	low := before
	low.Cur = 128
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	if err := ensureFiles(100); err != nil {
		t.Fatal(err)
	}
	var after syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &after); err != nil || after.Cur < 164 || after.Max != before.Max {
		t.Errorf("limit %+v (%v), before %+v", after, err, before)
	}
}

package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sweep/internal/supervise"
)

// stubLXC puts lxc-* programs into PATH: lxc-info tells of a running container
// x, and lxc-attach is the given shell script, with what it should run after
// the word --.
func stubLXC(t *testing.T, attach string) *Containers {
	t.Helper()
	dir := t.TempDir()
	for name, script := range map[string]string{
		"lxc-info":   "echo 'State: RUNNING'; echo 'PID: 0'",
		"lxc-attach": `while [ "$1" != -- ]; do shift; done; shift; ` + attach,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	user := t.TempDir()
	t.Setenv("HOME", user)
	c := NewLXC("", ContainerOptions{StateDir: t.TempDir(), CacheDir: t.TempDir()})
	bin, err := CachedBinary(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	c.homes["x"] = home{bin: bin}
	m := containerMarker{Schema: 1, Name: "i", Container: "x", Dir: user, Bin: bin, Created: time.Now()}
	if err := c.writeMarker(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestE15LostExitCodes: container tools have answered 0 for a program that was
// not there and for one that a signal ended. Without the answer of the program
// inside, no code is believed.
func TestE15LostExitCodes(t *testing.T) {
	for name, c := range map[string]struct{ attach, want string }{
		"0 and nothing done":  {"exit 0", errDaemonAway.Error()},
		"killed half-way":     {`"$@" & kill -9 $!; exit 0`, errDaemonAway.Error()},
		"255":                 {"exit 255", errDaemonAway.Error()},
		"not there":           {"echo no such file >&2; exit 127", "the sweep binary cannot be run"},
		"noise on its output": {"echo Welcome to Linux; exit 0", "this is not sweep's answer"},
	} {
		t.Run(name, func(t *testing.T) {
			rt := stubLXC(t, c.attach)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			res, err := rt.Exec(ctx, Instance{Name: "i"}, Cmd{Argv: []string{"/bin/true"}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("code %d, error %v; want %q in it", res.Code, err, c.want)
			}
		})
	}
}

// TestE14CallIsRepeatedOnlyWhereItMayBe: a call whose fate is not known is done
// again when that does no harm, and never otherwise.
func TestE14CallIsRepeatedOnlyWhereItMayBe(t *testing.T) {
	counted := filepath.Join(t.TempDir(), "calls")
	rt := stubLXC(t, `echo >>`+counted+`; [ "$(wc -l <`+counted+`)" -ge 3 ] || exit 1; exec "$@"`)
	once, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := rt.Exec(once, Instance{Name: "i"}, Cmd{Argv: []string{"/bin/true"}}); !errors.Is(err, errDaemonAway) {
		t.Errorf("a call that may not be repeated: %v", err)
	}
	if calls, _ := os.ReadFile(counted); len(calls) != 1 {
		t.Errorf("it was done %d times", len(calls))
	}
	res, err := rt.Exec(t.Context(), Instance{Name: "i"}, Cmd{Argv: []string{"/bin/sh", "-c", "cat; exit 7"}, Stdin: strings.NewReader("again"), Again: true})
	if err != nil || res.Code != 7 || string(res.Stdout) != "again" {
		t.Errorf("a call that may be repeated: %+v, %v", res, err)
	}
}

// TestLookupOfWhatIsGone: nothing of a stopped container lives.
func TestLookupOfWhatIsGone(t *testing.T) {
	rt := stubLXC(t, "exit 1")
	info := "#!/bin/sh\necho 'State: STOPPED'\n"
	path := strings.Split(os.Getenv("PATH"), ":")[0]
	if err := os.WriteFile(filepath.Join(path, "lxc-info"), []byte(info), 0o755); err != nil {
		t.Fatal(err)
	}
	in := Instance{Name: "i", Container: "x", Dir: "/d", Bin: "/d/bin/sweep"}
	if _, s, err := Lookup(t.Context(), rt, in, "server-1"); err != nil || s.Phase != supervise.Absent {
		t.Errorf("%+v, %v", s, err)
	}
}

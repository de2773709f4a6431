package supervise

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

func TestMainUsage(t *testing.T) {
	never := filepath.Join(t.TempDir(), "never")
	for _, c := range []struct {
		args  []string
		stdin string
		code  int
		want  string // on stderr
	}{
		{nil, "", 2, "a verb is missing"},
		{[]string{"restart", never}, "", 2, `there is no "restart"`},
		{[]string{"state"}, "", 2, "one directory"},
		{[]string{"state", never, "other"}, "", 2, "one directory"},
		{[]string{"state", never, "--grace", "1s"}, "", 2, "grace"},
		{[]string{"stop", never, "--grace", "soon"}, "", 2, "soon"},
		{[]string{"stop", never, "--grace=-1s"}, "", 2, "less than nothing"},
		{[]string{"run", never}, "", 1, "supervise start"},
		{[]string{"start", never}, "", 1, "read the spec"},
		{[]string{"start", never}, `{"spec":{"id":"x","argv":["true"]},"secret":["A=1"]}`, 1, `unknown field "secret"`},
		{[]string{"start", never}, `{"spec":{"id":"../x","argv":["true"]}}`, 1, `must start with a letter`},
		{[]string{"start", never}, `{"spec":{"id":"x/../y","argv":["true"]}}`, 1, `may hold only letters`},
		{[]string{"start", never}, `{"spec":{"id":"x"}}`, 1, "there is no command"},
		{[]string{"start", never}, `{"spec":{"id":"x","argv":["true"]},"secrets":["hunter2"]}`, 1, "not NAME=value"},
		{[]string{"state", never}, "", 0, ""},
		{[]string{"stop", "--grace", "1s", never}, "", 0, ""},
	} {
		cmd := self(t.Context(), append([]string{"supervise"}, c.args...)...)
		var stdout, stderr bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.stdin), &stdout, &stderr
		_ = cmd.Run() // its exit code is looked at
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%q: exit %d, want %d with %q; stderr %q", c.args, code, c.code, c.want, stderr.String())
		}
		if strings.Contains(stderr.String(), "hunter2") {
			t.Errorf("%q: stderr shows a secret", c.args)
		}
		var s State
		if c.code == 0 && (json.Unmarshal(stdout.Bytes(), &s) != nil || s.Phase != Absent || strings.Count(stdout.String(), "\n") != 1) {
			t.Errorf("%q: stdout %q is not one line with a state", c.args, stdout.String())
		}
	}
}

package remote

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// Output runs a program and returns what it prints, at most max bytes: more is
// an error. A code other than 0 is an *ExitError.
func (h *Host) Output(ctx context.Context, cmd Cmd, max int) ([]byte, error) {
	stdout := &bounded{max: max}
	stderr := &tail{max: 4 << 10}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	code, err := h.Run(ctx, cmd)
	if err != nil {
		return nil, err
	}
	if code != 0 {
		return stdout.Bytes(), &ExitError{Host: h.settings.name(), Command: cmd.String(), Code: code, Stderr: ending(string(stderr.kept), 300)}
	}
	return stdout.Bytes(), nil
}

// bounded is a buffer with an end.
type bounded struct {
	bytes.Buffer
	max int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.max {
		return 0, fmt.Errorf("more than %d bytes", b.max)
	}
	return b.Buffer.Write(p)
}

// tail keeps the last bytes.
type tail struct {
	kept []byte
	max  int
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - t.max; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// ending is the end of what a program said, cleaned for one line: its last
// words are those that tell why.
func ending(text string, max int) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "?"))
	if len(text) > max {
		text = "…" + strings.ToValidUTF8(text[len(text)-max:], "")
	}
	return clean(text, max+3)
}

package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
)

// Pushed tells how a push went.
type Pushed struct {
	Skipped  bool   // the file was there already, with this content
	Verified string // how the copy was checked: "sha256", or "size" where the host has no tool for it
}

// pushTries is how often a push is begun. Doing it again is harmless: the
// place of the file is taken in one step, by the same bytes.
const pushTries = 4

// PushFile copies a local file to the host. See Push.
func (h *Host) PushFile(ctx context.Context, localPath, remotePath string, mode fs.FileMode) (Pushed, error) {
	f, err := os.Open(localPath)
	if err != nil {
		return Pushed{}, fmt.Errorf("push: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		return Pushed{}, fmt.Errorf("push %s: %w", localPath, err)
	}
	return h.Push(ctx, f, size, hex.EncodeToString(sum.Sum(nil)), remotePath, mode)
}

var hexSum = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Push puts a file on the host, making directories on the way (mode 0700).
// Its name holds either what was there before or the whole new content, whose
// SHA-256 sum (in hex) is checked over there before it takes the name. Nothing is sent if the file
// is there already. Source is read from its start, more than once if the
// connection is lost. A full disk is a *FullError; nothing is left behind.
func (h *Host) Push(ctx context.Context, source io.ReadSeeker, size int64, sum string, remotePath string, mode fs.FileMode) (Pushed, error) {
	fail := func(err error) (Pushed, error) { return Pushed{}, fmt.Errorf("push %s: %w", remotePath, err) }
	if err := checkPath(remotePath); err != nil {
		return fail(err)
	}
	if strings.HasSuffix(remotePath, "/") || !hexSum.MatchString(sum) || size < 0 {
		return fail(fmt.Errorf("a file name, a size and a SHA-256 sum in hex are expected"))
	}
	for try := 1; ; try++ {
		if _, err := source.Seek(0, io.SeekStart); err != nil {
			return fail(err)
		}
		pushed, err := h.pushOnce(ctx, source, size, sum, path.Clean(remotePath), mode)
		if err == nil {
			return pushed, nil
		}
		if ctx.Err() != nil || !errors.Is(err, ErrLost) || try == pushTries {
			return fail(err)
		}
		h.opts.log(fmt.Sprintf("push %s: %v; once more", remotePath, err))
	}
}

// pushOnce runs the script of a push and reads its verdict.
func (h *Host) pushOnce(ctx context.Context, source io.Reader, size int64, sum, remotePath string, mode fs.FileMode) (Pushed, error) {
	gate := &gate{source: io.LimitReader(source, size), open: make(chan struct{}), shut: make(chan struct{})}
	defer gate.close()
	answers := &answers{gate: gate}
	stderr := &tail{max: 4 << 10}
	temp := path.Join(path.Dir(remotePath), "."+newMark())
	cmd := Cmd{label: "take the file", Argv: []string{"/bin/sh", "-c", pushScript, "push", remotePath, path.Dir(remotePath), temp,
		fmt.Sprint(size), sum, fmt.Sprintf("%o", mode.Perm())},
		Sudo: h.settings.Sudo, Stdin: gate, Stdout: answers, Stderr: stderr}
	if _, err := h.Run(ctx, cmd); err != nil {
		return Pushed{}, err
	}
	words := strings.Fields(answers.last())
	said := ending(string(stderr.kept), 200)
	if len(words) == 0 {
		return Pushed{}, fmt.Errorf("%s: the script ended without a word: %s", h.settings.name(), said)
	}
	switch words[0] {
	case "same":
		return Pushed{Skipped: true, Verified: "sha256"}, nil
	case "done":
		return Pushed{Verified: words[len(words)-1]}, nil
	case "write":
		free := freeBytes(words)
		if strings.Contains(said, "No space left") || strings.Contains(said, "quota exceeded") {
			return Pushed{}, &FullError{Host: h.settings.name(), Dir: path.Dir(remotePath), Need: size, Free: free}
		}
	case "short":
		return Pushed{}, fmt.Errorf("%s: %d bytes were to come and %s came", h.settings.name(), size, words[len(words)-1])
	case "differs":
		return Pushed{}, fmt.Errorf("%s: the copy has another SHA-256 sum than asked for: the local file changed, or the host's disk is bad", h.settings.name())
	}
	reason := clean(strings.Join(words, " "), 60)
	if said != "" {
		reason += ": " + said
	}
	return Pushed{}, fmt.Errorf("%s: cannot %s", h.settings.name(), reason)
}

// gate holds the bytes back until the host wants them.
type gate struct {
	source     io.Reader
	open, shut chan struct{}
}

func (g *gate) Read(p []byte) (int, error) {
	select {
	case <-g.open:
		return g.source.Read(p)
	case <-g.shut:
		return 0, io.EOF
	}
}

func (g *gate) close() { close(g.shut) }

// answers are the lines of the script. The word send opens the gate.
type answers struct {
	gate *gate
	text bytes.Buffer
	sent bool
}

func (a *answers) Write(p []byte) (int, error) {
	if a.text.Len() > 64<<10 {
		return 0, errors.New("the host says too much")
	}
	a.text.Write(p)
	if !a.sent && strings.Contains(a.text.String(), "send\n") {
		a.sent = true
		close(a.gate.open)
	}
	return len(p), nil
}

// last is the last line.
func (a *answers) last() string {
	lines := strings.Split(strings.TrimSpace(a.text.String()), "\n")
	return lines[len(lines)-1]
}

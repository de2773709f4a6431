package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"sweep/internal/supervise"
)

const (
	// heldDir in an instance's directory has one directory per held process.
	heldDir = "held"
	// controlTime bounds one `sweep supervise` call: a start takes at most 10 s,
	// and a container daemon may hang for a while.
	controlTime = 2 * time.Minute
	// longestStop bounds a stop beyond its grace: `sweep supervise stop` gives
	// up by itself a minute after the grace.
	longestStop = 90 * time.Second
	// tailChunk is the most that one Tail returns, in bytes.
	tailChunk = 1 << 20
)

// Held is a process held in an instance. It knows nothing by itself: every
// method asks the instance, so two of the same ID are as good as one. Safe for
// concurrent use.
type Held struct {
	rt  Runtime
	in  Instance
	id  string
	dir string
}

// Hold starts a process in an instance so that it outlives us: own session,
// output to files, exit state written atomically. It is idempotent by spec.ID:
// a second call, also after the process has ended, starts nothing and finds the
// first. The environment is the instance's own with spec.Env over it;
// an entry that is only a name unsets it. A command that cannot be started is no error here: its Exit says so.
// After an error the process may or may not run; call again to know.
func Hold(ctx context.Context, rt Runtime, in Instance, spec supervise.Spec) (*Held, error) {
	h, err := held(rt, in, spec.ID)
	if err != nil {
		return nil, err
	}
	spec.Env = environment(in.Env, spec.Env)
	request, err := json.Marshal(supervise.StartRequest{Spec: spec, Secrets: spec.Secrets})
	if err != nil {
		return nil, fmt.Errorf("hold %s: %w", spec.ID, err)
	}
	if _, err := h.control(ctx, controlTime, request, "start"); err != nil {
		return nil, fmt.Errorf("hold %s in %s: %w", spec.ID, in.Name, err)
	}
	return h, nil
}

// environment lays asked over own. A name without a value takes it away.
func environment(own, asked []string) []string {
	env := slices.Clone(own)
	for _, entry := range asked {
		name, _, set := strings.Cut(entry, "=")
		env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		if set {
			env = append(env, entry)
		}
	}
	return env
}

// Lookup finds what was held under id, by this sweep or by one before it. The
// phase is Absent where nothing ever was.
func Lookup(ctx context.Context, rt Runtime, in Instance, id string) (*Held, supervise.State, error) {
	h, err := held(rt, in, id)
	if err != nil {
		return nil, supervise.State{}, err
	}
	if in.Bin == "" { // its making was cut off: nothing can have been held
		return h, supervise.State{Phase: supervise.Absent}, nil
	}
	s, err := h.State(ctx)
	if errors.Is(err, ErrGone) {
		return h, supervise.State{Phase: supervise.Absent}, nil
	}
	if err != nil {
		return nil, supervise.State{}, err
	}
	return h, s, nil
}

func held(rt Runtime, in Instance, id string) (*Held, error) {
	if err := supervise.ValidID(id); err != nil {
		return nil, err
	}
	return &Held{rt: rt, in: in, id: id, dir: path.Join(in.Dir, heldDir, id)}, nil
}

// LogPath is the file inside the instance with the process's stdout and stderr.
func (h *Held) LogPath() string { return path.Join(h.dir, supervise.OutputFile) }

// State looks at the process and its tree.
func (h *Held) State(ctx context.Context) (supervise.State, error) {
	s, err := h.control(ctx, controlTime, nil, "state")
	if err != nil {
		return s, fmt.Errorf("look at %s in %s: %w", h.id, h.in.Name, err)
	}
	return s, nil
}

// Exit reads how the process ended; nil while it has not. It runs no command,
// so it is cheap enough to ask often. A process that was lost never has one:
// ask State too, less often.
func (h *Held) Exit(ctx context.Context) (*supervise.Exit, error) {
	text, err := h.rt.Files(h.in).ReadAt(ctx, path.Join(h.dir, supervise.ExitFile), 0, 64<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the exit of %s in %s: %w", h.id, h.in.Name, err)
	}
	var exit supervise.Exit
	if err := json.Unmarshal(text, &exit); err != nil {
		return nil, fmt.Errorf("read the exit of %s in %s: %w", h.id, h.in.Name, err)
	}
	return &exit, nil
}

// Tail returns what the process has written from offset on, at most 1 MiB;
// nothing at the end. It is raw: control characters and all.
func (h *Held) Tail(ctx context.Context, offset int64) ([]byte, error) {
	text, err := h.rt.Files(h.in).ReadAt(ctx, h.LogPath(), offset, tailChunk)
	if err != nil {
		return nil, fmt.Errorf("read the output of %s in %s: %w", h.id, h.in.Name, err)
	}
	return text, nil
}

// Stop ends the whole tree: TERM, grace (0: the spec's own), KILL. It returns
// when nothing of it lives, may be called at any time and again, and is bounded
// by itself beyond the grace.
func (h *Held) Stop(ctx context.Context, grace time.Duration) (supervise.State, error) {
	bound, words := grace+longestStop, []string{"stop", "--grace", grace.String()}
	if grace <= 0 {
		bound, words = time.Hour, []string{"stop"} // the spec's grace is known only there
	}
	s, err := h.control(ctx, bound, nil, words...)
	if err != nil {
		return s, fmt.Errorf("stop %s in %s: %w", h.id, h.in.Name, err)
	}
	return s, nil
}

// control calls `sweep supervise VERB [FLAGS] DIR` in the instance.
func (h *Held) control(ctx context.Context, bound time.Duration, stdin []byte, words ...string) (supervise.State, error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	cmd := Cmd{Argv: append(append([]string{h.in.Bin, "supervise"}, words...), h.dir), Again: true, Bound: bound}
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	var s supervise.State
	res, err := h.rt.Exec(ctx, h.in, cmd)
	if err != nil {
		return s, err
	}
	if res.Code != 0 {
		return s, fmt.Errorf("`%s` ended with exit status %d: %s", strings.Join(cmd.Argv, " "), res.Code, oneLine(res.Stderr))
	}
	if err := json.Unmarshal(res.Stdout, &s); err != nil || s.Phase == "" {
		return s, fmt.Errorf("`%s` did not answer with a state but %q", strings.Join(cmd.Argv, " "), oneLine(res.Stdout))
	}
	return s, nil
}

// oneLine makes a command's output fit for a message: one line, nothing that a
// terminal would act on, not too long.
func oneLine(text []byte) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(text[:min(len(text), 2000)]), "?"))
	return strings.Join(strings.Fields(clean), " ")
}

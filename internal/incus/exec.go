package incus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// execLimit is the longest that a command may take, whatever its context
	// says: commands here are short, and one that runs blocks the daemon's
	// shutdown.
	execLimit = 15 * time.Minute
	// execAttach is when the daemon gives up on a command that is not attached to.
	execAttach = 5 * time.Second
	// execDrain is how long output is read after the command has ended.
	execDrain = 5 * time.Second
	// execKill is how long the end of a killed command is waited for.
	execKill = 5 * time.Second
	// defaultOutput is what is kept of each stream unless told otherwise.
	defaultOutput = 1 << 20
)

// ExecRequest is a short command.
type ExecRequest struct {
	// Argv reaches the program byte for byte; no shell is involved. Each must be
	// UTF-8, because the daemon takes JSON.
	Argv []string
	// Env is NAME=value, over the instance's environment.* config and PATH,
	// HOME, USER, LANG.
	Env         []string
	Dir         string // /root when empty; the daemon takes / for one that is not there
	User, Group uint32 // numbers inside; 0 is root
	// Stdin is read until its end or the command's; nil is empty. It should not
	// block for ever: a read that does outlives the call.
	Stdin     io.Reader
	MaxOutput int // bytes kept of each of stdout and stderr; 0 is 1 MiB
}

// ExecResult is how a command ended.
type ExecResult struct {
	Code   int    // its exit code, or 128 + the signal that ended it
	Stdout []byte // the first MaxOutput bytes
	Stderr []byte
	Cut    bool // there was more on one of them; it was read and dropped
}

// Exec runs a command to its end. A command that ran and failed is not an
// error: look at Code, which is 127 for one that is not there and 126 for one
// that cannot be executed, as shells have it. ErrStopped and ErrFrozen when
// nothing can run, ErrAnswer when the output broke off. When ctx ends the command gets SIGKILL, which its children
// do not, and ctx's error is returned. When the daemon is lost on the way the
// error is ErrUnknown: the command may still run, with nobody to hear how it
// ends.
func (c *Client) Exec(ctx context.Context, name string, r ExecRequest) (ExecResult, error) {
	bounded, cancel := context.WithTimeout(ctx, execLimit)
	defer cancel()
	body, err := r.body()
	if err != nil {
		return ExecResult{}, &Error{Op: "run a command in the instance " + name, Text: clean(err.Error())}
	}
	op := fmt.Sprintf("run %s in the instance %s", clean(r.Argv[0]), name)
	res, err := c.exec(bounded, name, r, body)
	if cause := bounded.Err(); err != nil && cause != nil && !errors.Is(err, cause) {
		err = &Error{Kind: cause, Text: clean(err.Error())}
	}
	return res, c.judged(context.WithoutCancel(ctx), op, name, err, map[Status]error{Stopped: ErrStopped, Frozen: ErrFrozen})
}

func (r ExecRequest) body() (map[string]any, error) {
	if len(r.Argv) == 0 || r.Argv[0] == "" {
		return nil, errors.New("there is no command")
	}
	for i, a := range r.Argv {
		if !utf8.ValidString(a) || strings.ContainsRune(a, 0) {
			return nil, fmt.Errorf("argument %d, %q, is not UTF-8 without NUL, which the daemon cannot take: pass it on stdin or in a file", i, a)
		}
	}
	env := map[string]string{}
	for _, e := range r.Env {
		k, v, ok := strings.Cut(e, "=")
		if !ok || k == "" || !utf8.ValidString(e) || strings.ContainsRune(e, 0) {
			return nil, fmt.Errorf("the variable %q is not NAME=value in UTF-8", k) // its value may be a secret
		}
		env[k] = v
	}
	return map[string]any{"command": r.Argv, "environment": env, "cwd": r.Dir, "user": r.User, "group": r.Group,
		"wait-for-websocket": true, "interactive": false, "record-output": false}, nil
}

// exec asks for the command, attaches to it, and waits. Nothing runs before all
// is attached, so a request whose answer was lost did nothing and is repeated.
func (c *Client) exec(ctx context.Context, name string, r ExecRequest, body map[string]any) (ExecResult, error) {
	var made struct {
		Metadata struct {
			FDs map[string]string `json:"fds"`
		} `json:"metadata"`
	}
	var path string
	if err := c.again(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, c.quick)
		defer cancel()
		a, err := c.send(ctx, request{method: http.MethodPost, path: at("instances", name, "exec"), body: body})
		if err != nil {
			return err
		}
		path = a.Operation
		if !operationPath.MatchString(path) {
			return &Error{Kind: ErrAnswer, Text: clean("it names the operation " + path)}
		}
		return a.into(&made)
	}, worthReading); err != nil {
		return ExecResult{}, err
	}
	s, err := c.attach(ctx, path, made.Metadata.FDs)
	if err != nil {
		return ExecResult{}, err
	}
	defer s.close()
	return c.attend(ctx, s, path, r)
}

// exitCode finds the code of an ended command. The daemon calls 126 and 127
// failures of the operation, whoever gave them, and then only its record has
// the code.
func (c *Client) exitCode(ctx context.Context, path string, op operation, failure error) (int, error) {
	if failure != nil {
		refusal, ok := errors.AsType[*Error](failure)
		if !ok || refusal.status != http.StatusOK {
			return 0, failure
		}
		if _, err := c.getOnce(ctx, request{path: path}, &op); err != nil {
			return 0, failure // forgotten already
		}
	}
	var end struct {
		Return *int `json:"return"`
	}
	if err := json.Unmarshal(op.Metadata, &end); err == nil && end.Return != nil {
		return *end.Return, nil
	}
	if failure != nil {
		return 0, failure
	}
	return 0, &Error{Kind: ErrAnswer, Text: "the command ended and there is no exit code"}
}

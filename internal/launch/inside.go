package launch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Inside is the body of `sweep inside`, which sweep calls in containers: args
// is what follows that word. `call` speaks frames, see frameCall; the other
// verbs are for Exec: `hello`, `port N`, `http N`, `shm SINCE`; `idle` is the first
// process of a container that has none of its own.
func Inside(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	verb := ""
	if len(args) > 0 {
		verb = args[0]
	}
	var err error
	switch {
	case verb == "call" && len(args) == 1:
		err = answerCall(ctx, stdin, stdout)
	case verb == "hello" && len(args) == 1:
		err = hello(ctx, stdout)
	case verb == "port" && len(args) == 2:
		err = tellPort(ctx, args[1], stdout)
	case verb == "http" && len(args) == 2:
		err = passRequest(ctx, args[1], stdin, stdout)
	case verb == "idle" && len(args) == 1:
		err = idle(ctx)
	case verb == "shm" && len(args) == 2:
		err = clearShm(args[1], stdout)
	default:
		fmt.Fprintln(stderr, "usage: sweep inside call | hello | idle | port N | http N | shm SINCE\n(called by sweep itself in containers)")
		return 2
	}
	if err != nil {
		fmt.Fprintf(stderr, "sweep inside %s: %v\n", verb, err)
		if own := (exitError{}); errors.As(err, &own) {
			return own.code
		}
		return 1
	}
	return 0
}

// hello proves that this binary runs here, and tells which it is.
func hello(ctx context.Context, stdout io.Writer) error {
	self, err := openSelf()
	if err != nil {
		return err
	}
	defer self.Close()
	sum, _, err := hashOf(ctx, self)
	if err == nil {
		_, err = fmt.Fprintf(stdout, "sweep %s\n", sum)
	}
	return err
}

// answerCall carries out one call. Its input ends with the caller, and what it
// runs ends with it.
func answerCall(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	in := bufio.NewReaderSize(stdin, 64<<10)
	kind, text, err := readFrame(in)
	if err != nil || kind != frameCall {
		return fmt.Errorf("read the call: %w", errors.Join(err, fmt.Errorf("kind %q", kind)))
	}
	var call insideCall
	if err := json.Unmarshal(text, &call); err != nil {
		return fmt.Errorf("read the call: %w", err)
	}
	if call.Argv, err = decoded(call.Argv); err == nil {
		call.Env, err = decoded(call.Env)
	}
	if err != nil {
		return fmt.Errorf("read the call: %w", err)
	}
	ctx, gone := context.WithCancel(ctx)
	defer gone()
	inputR, inputW := io.Pipe()
	go func() {
		defer gone()
		for {
			kind, data, err := readFrame(in)
			switch {
			case err != nil:
				inputW.CloseWithError(io.ErrUnexpectedEOF)
				return
			case kind == frameInput:
				_, _ = inputW.Write(data) // a command need not read all of its input
			case kind == frameInputEnd:
				inputW.Close()
			}
		}
	}()
	answer := carryOut(ctx, call, inputR)
	inputR.Close()
	if err := errors.Join(writeFrames(stdout, frameStdout, answer.stdout), writeFrames(stdout, frameStderr, answer.stderr)); err != nil {
		return err
	}
	last, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return writeFrame(stdout, frameAnswer, last)
}

// carryOut does what a call asks, with sweep's home being where this binary is.
func carryOut(ctx context.Context, call insideCall, input io.Reader) (answer insideAnswer) {
	own, err := ownHome()
	rt := NewProcess(writableHome(own), own)
	switch {
	case err != nil:
	case call.Verb == "create":
		var in Instance
		pruneBinaries(filepath.Join(own, "bin"))
		if in, err = rt.create(ctx, InstanceSpec{Name: call.Name, Labels: call.Labels}); err == nil {
			in.Env, in.OnHost = containerEnvironment(os.Environ()), false
			answer.Instance = &in
		}
	case call.Verb == "destroy":
		err = rt.destroy(ctx, call.Name)
	case call.Verb == "exec":
		var res ExecResult
		res, err = runInside(ctx, Cmd{Argv: call.Argv, Dir: call.Dir, Stdin: input}, call.Env)
		answer.Code, answer.stdout, answer.stderr = res.Code, res.Stdout, res.Stderr
	case call.Verb == "put":
		err = processFiles{}.Put(ctx, call.Path, input, call.Mode)
	case call.Verb == "read":
		answer.stdout, err = processFiles{}.ReadAt(ctx, call.Path, call.Offset, min(call.Max, MaxExecOutput))
	default:
		err = fmt.Errorf("there is no %q; is this an older sweep?", call.Verb)
	}
	if err != nil {
		answer.Error = oneLine([]byte(err.Error()))
		switch {
		case errors.Is(err, ErrForeign):
			answer.Kind = "foreign"
		case errors.Is(err, fs.ErrNotExist) && call.Verb == "read":
			answer.Kind = "missing"
		}
	}
	return answer
}

// ownHome is the directory with bin/ and instances/ that this binary is in.
func ownHome() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	dir := filepath.Dir(path)
	if filepath.Base(dir) != "bin" {
		return "", fmt.Errorf("%s is not in a bin directory of sweep's", path)
	}
	return filepath.Dir(dir), nil
}

// writableHome is where instances are kept: beside the binary, or where the
// container's user may write when that is mounted read-only or another user's.
// It is the same at each call.
func writableHome(own string) string {
	for _, dir := range homesInside(own) {
		if os.MkdirAll(filepath.Join(dir, "instances"), 0o755) == nil && unix.Access(filepath.Join(dir, "instances"), unix.W_OK) == nil {
			return dir
		}
	}
	return own // its error tells
}

func homesInside(own string) []string {
	homes := []string{own}
	if dir := os.Getenv("HOME"); filepath.IsAbs(dir) {
		homes = append(homes, filepath.Join(dir, ".cache/sweep"))
	}
	return append(homes, "/var/tmp/sweep", "/tmp/sweep")
}

// containerEnvironment is what every process that is held in a container
// starts from: the container's own environment, and what every program expects
// to be there.
func containerEnvironment(environ []string) []string {
	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "HOME=/root", "USER=root"}
	if os.Getuid() != 0 {
		env = env[:2]
	}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		switch {
		case name == "PWD" || name == "OLDPWD" || name == "SHLVL" || name == "_" || name == "TERM" || name == "GORACE":
		case value == "" && (name == "PATH" || name == "HOME"):
		default:
			env = environment(env, []string{pair})
		}
	}
	return env
}

func encoded(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = base64.StdEncoding.EncodeToString([]byte(w))
	}
	return out
}

func decoded(words []string) ([]string, error) {
	out := make([]string, len(words))
	for i, w := range words {
		text, err := base64.StdEncoding.DecodeString(w)
		if err != nil {
			return nil, err
		}
		out[i] = string(text)
	}
	return out, nil
}

// tail keeps the last bytes of a stream, for a message.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if len(t.kept) > 4<<10 {
		t.kept = bytes.Clone(t.kept[len(t.kept)-2<<10:])
	}
	return len(p), nil
}

func (t *tail) bytes() []byte { return t.kept }

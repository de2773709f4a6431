package check

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"sweep/internal/launch"
	"sweep/internal/sweep"
)

// Question is what `sweep facts` is asked, on its standard input. It runs where
// the server will: in the container, as the user that servers run as.
type Question struct {
	Env     []string `json:"env"`      // of the instance, NAME=value
	EnvFile string   `json:"env_file"` // laid over it; its values never leave the place
	Own     []string `json:"own"`      // of the configuration, over both; a bare NAME unsets
	Program string   `json:"program"`  // the interpreter
	Model   string   `json:"model"`    // as model-path says
	Ports   []int    `json:"ports"`
	Dir     string   `json:"dir"` // of the instance
}

// questionOf asks about the server of a configuration in an instance.
func questionOf(in launch.Instance, c sweep.Configuration) Question {
	return Question{Env: in.Env, EnvFile: c.EnvFile, Own: append(c.Environ(), c.Unset()...), Program: c.Command[0], Model: ModelName(c), Dir: in.Dir}
}

// verbs of `sweep facts`, each with one answer.
const (
	verbPlace   = "place"
	verbCards   = "cards"
	verbModel   = "model"
	verbInstall = "install"
	verbParser  = "parser"
)

// maxQuestion bounds a question, in bytes.
const maxQuestion = 1 << 20

// Tell is the body of `sweep facts`, which sweep calls where servers will run:
// args is one verb, the question is read from stdin and answered in JSON.
func Tell(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var q Question
	if len(args) != 1 {
		fmt.Fprintln(stderr, "usage: sweep facts place | cards | model | install | parser   (called by sweep itself where servers run)")
		return 2
	}
	text, err := io.ReadAll(io.LimitReader(stdin, maxQuestion))
	if err == nil {
		err = json.Unmarshal(text, &q)
	}
	if err != nil {
		fmt.Fprintf(stderr, "sweep facts: read the question: %v\n", err)
		return 2
	}
	env, envErr := q.environment()
	var answer any
	switch args[0] {
	case verbPlace:
		answer = tellPlace(q, env, envErr)
	case verbCards:
		answer = tellCards(ctx, env)
	case verbModel:
		answer = tellModel(ctx, q, env)
	case verbInstall:
		answer = tellInstall(ctx, q, env)
	case verbParser:
		answer = tellParser(ctx, q, env)
	default:
		fmt.Fprintf(stderr, "sweep facts: there is no verb %q\n", args[0])
		return 2
	}
	if err := json.NewEncoder(stdout).Encode(answer); err != nil {
		fmt.Fprintf(stderr, "sweep facts: %v\n", err)
		return 1
	}
	return 0
}

// environment is the server's. The error is about the env-file, never about a
// value in it.
func (q Question) environment() (environment, error) {
	env := environment{}
	env.lay(q.Env)
	var err error
	if q.EnvFile != "" {
		var text []byte
		if text, err = readSome(q.EnvFile, 1<<20); err == nil {
			var settings []string
			if settings, err = envFile(text); err == nil {
				env.lay(settings)
			}
		}
	}
	env.lay(q.Own)
	return env, err
}

func envFile(text []byte) ([]string, error) {
	settings, err := sweep.EnvFile(text)
	if err != nil {
		return nil, err
	}
	return sweep.Configuration{Env: settings}.Environ(), nil
}

// environment is one by name.
type environment map[string]string

// lay sets NAME=value and unsets a bare NAME.
func (e environment) lay(list []string) {
	for _, pair := range list {
		if name, value, set := strings.Cut(pair, "="); set {
			e[name] = value
		} else {
			delete(e, name)
		}
	}
}

// list is the environment as programs get it.
func (e environment) list() []string {
	list := make([]string, 0, len(e))
	for name, value := range e {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// readSome reads at most max bytes of a file that may be anything.
func readSome(path string, max int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() || info.Mode()&os.ModeNamedPipe != 0 {
		return nil, fmt.Errorf("%s is no file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, max))
}

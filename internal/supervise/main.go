package supervise

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"
)

const usageText = `usage: sweep supervise start DIR               the spec as JSON on stdin
       sweep supervise state DIR
       sweep supervise stop DIR [--grace 15s]
       sweep supervise run DIR                 (started by start)
`

// Main is the body of `sweep supervise`, args being what follows that word.
// start, state and stop write one State as a line of JSON. It returns the exit
// code: 0, 1 after an error, 2 after wrong usage.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	verb, dir, grace, err := parse(args)
	if err != nil {
		fmt.Fprintf(stderr, "sweep supervise: %v\n%s", err, usageText)
		return 2
	}
	var s State
	switch verb {
	case "run":
		return Run(dir)
	case "start":
		s, err = startFrom(ctx, dir, stdin)
	case "state":
		s, err = Look(dir)
	case "stop":
		s, err = Stop(ctx, dir, grace)
	}
	if err == nil {
		err = json.NewEncoder(stdout).Encode(s)
	}
	if err != nil {
		fmt.Fprintf(stderr, "sweep supervise %s: %v\n", verb, err)
		return 1
	}
	return 0
}

// parse takes flags before and after the directory.
func parse(args []string) (verb, dir string, grace time.Duration, err error) {
	if len(args) == 0 {
		return "", "", 0, errors.New("a verb is missing")
	}
	verb = args[0]
	flags := flag.NewFlagSet(verb, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	switch verb {
	case "start", "state", "run":
	case "stop":
		flags.DurationVar(&grace, "grace", 0, "between TERM and KILL; 0: what the spec says")
	default:
		return "", "", 0, fmt.Errorf("there is no %q", verb)
	}
	var words []string
	for rest := args[1:]; len(rest) > 0; {
		if err := flags.Parse(rest); err != nil {
			return "", "", 0, err
		}
		if rest = flags.Args(); len(rest) > 0 {
			words, rest = append(words, rest[0]), rest[1:]
		}
	}
	if len(words) != 1 || words[0] == "" {
		return "", "", 0, fmt.Errorf("one directory is expected, not %d: %s", len(words), strings.Join(words, " "))
	}
	if grace < 0 {
		return "", "", 0, fmt.Errorf("a grace of %v is less than nothing", grace)
	}
	return verb, words[0], grace, nil
}

func startFrom(ctx context.Context, dir string, stdin io.Reader) (State, error) {
	decoder := json.NewDecoder(stdin)
	decoder.DisallowUnknownFields() // a misspelt "secrets" must not start a server without them
	var request StartRequest
	if err := decoder.Decode(&request); err != nil {
		return State{}, fmt.Errorf("read the spec from stdin: %w", err)
	}
	request.Spec.Secrets = request.Secrets
	return Start(ctx, dir, request.Spec)
}

package supervise

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// StartRequest is what `supervise start` reads on stdin, as JSON. Secrets are
// beside the spec because the spec is written to disk.
type StartRequest struct {
	Spec    Spec     `json:"spec"`
	Secrets []string `json:"secrets,omitempty"` // NAME=value
}

// ValidID tells whether id can name a held process and its directory: letters,
// digits, dashes and dots, not a dot first, at most 128 bytes. So it can never
// leave the directory it is put in.
func ValidID(id string) error {
	switch {
	case id == "":
		return errors.New("the id of a held process is empty")
	case len(id) > 128:
		return fmt.Errorf("the id of a held process has %d bytes, at most 128 fit", len(id))
	case id[0] == '.' || id[0] == '-':
		return fmt.Errorf("the id %q of a held process must start with a letter or a digit", id)
	}
	for _, c := range id {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.':
		default:
			return fmt.Errorf("the id %q of a held process may hold only letters, digits, dashes and dots", id)
		}
	}
	return nil
}

func (s Spec) validate() error {
	if err := ValidID(s.ID); err != nil {
		return err
	}
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		return fmt.Errorf("hold %s: there is no command", s.ID)
	}
	for _, word := range s.Argv {
		if strings.ContainsRune(word, 0) {
			return fmt.Errorf("hold %s: an argument holds a zero byte, which no program can be given", s.ID)
		}
	}
	for _, list := range [][]string{s.Env, s.Secrets} {
		for _, pair := range list {
			// The value is never shown: it may be a secret.
			if name, _, ok := strings.Cut(pair, "="); !ok || name == "" || strings.ContainsRune(pair, 0) {
				return fmt.Errorf("hold %s: an environment entry is not NAME=value", s.ID)
			}
		}
	}
	return nil
}

func (s Spec) grace() time.Duration {
	if s.Grace > 0 {
		return s.Grace
	}
	return DefaultGrace
}

// environment joins Env and Secrets, the last of each name winning: getenv
// finds the first of two, so a repeated name must not reach the command.
// Never nil, which would mean the supervisor's own environment.
func (s Spec) environment() []string {
	out, at := []string{}, map[string]int{}
	for _, list := range [][]string{s.Env, s.Secrets} {
		for _, pair := range list {
			name, _, _ := strings.Cut(pair, "=")
			if i, ok := at[name]; ok {
				out[i] = pair
				continue
			}
			at[name] = len(out)
			out = append(out, pair)
		}
	}
	return out
}

// String says how a command ended, for a message: "exit status 3", "killed by
// SIGKILL (the kernel's out-of-memory killer was at work)".
func (e *Exit) String() string {
	if e == nil {
		return "not ended"
	}
	text := "ended in an unknown way"
	switch {
	case e.Error != "":
		text = "could not be started: " + e.Error
	case e.Signal != "":
		text = "killed by " + e.Signal
	case e.Code != nil:
		text = fmt.Sprintf("exit status %d", *e.Code)
	}
	if e.OOM != nil && *e.OOM {
		text += " (the kernel's out-of-memory killer was at work)"
	}
	return text
}

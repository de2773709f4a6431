package remote

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Cmd is a program to run on the host. Its arguments arrive byte for byte: no
// shell ever reads them.
type Cmd struct {
	Argv []string // program and arguments; no NUL inside, about 25 kB in the worst case, 100 kB of plain text
	// Env is set for the program, NAME=VALUE, over what a login gives it.
	// Anyone on the host can read it in ps for a moment: secrets go to Stdin.
	Env  []string
	Dir  string // working directory; "": the home directory
	Sudo bool   // run it as root by sudo -n, which never asks for a password

	Stdin  io.Reader // nil: empty
	Stdout io.Writer // nil: thrown away
	Stderr io.Writer // nil: thrown away

	label string // what messages call it, where a script would be in them
}

// maxLine is the longest command: Linux gives a single argument 128 KiB.
const maxLine = 120 << 10

// codeDir is how the script ends when it cannot enter Dir.
const codeDir = 97

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// line is what is sent to sshd. The mark, a line of its own on both outputs,
// is printed right before the program takes over: what came before is from
// start-up files of the login shell, or tells why the program never started.
func (c Cmd) line(mark string) (string, error) {
	if err := c.check(); err != nil {
		return "", err
	}
	script := "echo " + mark + "; echo " + mark + " >&2; exec " + quoteAll(c.Argv)
	for i := len(c.Env) - 1; i >= 0; i-- {
		name, value, _ := strings.Cut(c.Env[i], "=")
		script = "export " + name + "=" + Quote(value) + "; " + script
	}
	if c.Dir != "" {
		script = "cd " + Quote(c.Dir) + " || exit " + strconv.Itoa(codeDir) + "; " + script
	}
	if c.Sudo {
		// The mark is printed by root, so that a refusal of sudo is told apart
		// from a failure of the program without reading sudo's words.
		script = "exec sudo -n -- /bin/sh -c " + Quote(script)
	}
	line := loginLine(script)
	if len(line) > maxLine {
		return "", fmt.Errorf("the command is too long: %d bytes of at most %d; pass what is long through Stdin", len(line), maxLine)
	}
	return line, nil
}

func (c Cmd) check() error {
	if len(c.Argv) == 0 || c.Argv[0] == "" || strings.HasPrefix(c.Argv[0], "-") {
		return fmt.Errorf("no program to run in %q", c.Argv)
	}
	if strings.HasPrefix(c.Dir, "-") {
		return fmt.Errorf("directory %q: write ./%s", c.Dir, c.Dir)
	}
	for _, text := range append([]string{c.Dir}, c.Argv...) {
		if strings.ContainsRune(text, 0) {
			return fmt.Errorf("argument %q has a NUL byte, which no program can be given", clean(text, 60))
		}
	}
	for _, pair := range c.Env {
		name, _, ok := strings.Cut(pair, "=")
		if !ok || !variable.MatchString(name) || strings.ContainsRune(pair, 0) {
			return fmt.Errorf("variable %q is not NAME=VALUE", clean(name, 60))
		}
	}
	return nil
}

// String is the command for messages: bounded, and without Env and Stdin.
func (c Cmd) String() string {
	text := c.label
	if text == "" {
		text = clean(quoteAll(c.Argv), 120)
	}
	if c.Sudo {
		text = "sudo " + text
	}
	return text
}

// newMark is a line that no start-up file prints.
func newMark() string {
	random := make([]byte, 12)
	_, _ = rand.Read(random) // cannot fail
	return "sweep-" + hex.EncodeToString(random)
}

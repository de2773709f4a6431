package sweep

import (
	"slices"
	"strconv"

	"sweep/internal/matrix"
)

// Argv is the exact command of the server on a port: the command's words, the
// flags in order, then host and port. Each word reaches the server byte for
// byte; a JSON map is one word.
func (c Configuration) Argv(port int) []string {
	return c.appendArgv(make([]string, 0, c.words()), strconv.Itoa(port), func(name string) string { return "--" + name })
}

// words is the length of Argv.
func (c Configuration) words() int {
	n := len(c.Command) + 4
	for _, f := range c.Flags {
		if f.Value.Kind != matrix.Omit {
			n += 1 + len(f.Value.Words)
		}
	}
	return n
}

// appendArgv takes the dashing of names as a function, so that a plan of many
// configurations can share those strings.
func (c Configuration) appendArgv(argv []string, port string, dashed func(string) string) []string {
	argv = append(argv, c.Command...)
	for _, f := range c.Flags {
		switch f.Value.Kind {
		case matrix.Omit:
		case matrix.Off:
			argv = append(argv, dashed("no-"+f.Name))
		default:
			argv = append(argv, dashed(f.Name))
			argv = append(argv, f.Value.Words...)
		}
	}
	return append(argv, "--host", c.Container.listen(), "--port", port)
}

// listen is the address a server binds. On the bare machine nobody else needs
// to reach it; in a container the load comes from outside.
func (c Container) listen() string {
	if c.Runtime == RuntimeProcess || c.Runtime == "" {
		return "127.0.0.1"
	}
	return "0.0.0.0"
}

// Environ is what the configuration adds to the server's environment, as
// NAME=value in order. What it unsets is in Unset.
func (c Configuration) Environ() []string {
	env := make([]string, 0, len(c.Env))
	for _, e := range c.Env {
		if e.Value.Kind != matrix.Omit {
			env = append(env, e.Name+"="+e.Value.Words[0])
		}
	}
	return env
}

// Unset names the variables that the server must not inherit.
func (c Configuration) Unset() []string {
	var names []string
	for _, e := range c.Env {
		if e.Value.Kind == matrix.Omit {
			names = append(names, e.Name)
		}
	}
	return slices.Clip(names)
}

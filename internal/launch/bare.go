package launch

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"sweep/internal/supervise"
)

// BareEnvironment is what a held process starts from on the bare machine, as
// in a container: what a login happens to have set must not change a run.
func BareEnvironment() []string {
	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}
	for _, name := range []string{"HOME", "USER"} {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// BareCommand asks something on the bare machine as a held process would be
// started there: from BareEnvironment with env over it, its program found in
// the PATH of these. Another PATH would find another interpreter.
func BareCommand(ctx context.Context, argv, env []string) (*exec.Cmd, error) {
	env = append(BareEnvironment(), env...)
	path, err := supervise.Program(argv[0], env)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", argv[0], err)
	}
	c := exec.CommandContext(ctx, path, argv[1:]...)
	c.Env = env
	return c, nil
}

package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

// The scripts ask this binary itself for the words (`--generate-bash-completion`
// is urfave/cli's own switch), so they never fall behind it.
const (
	bashCompletion = `_sweep_complete() {
  local cur="${COMP_WORDS[COMP_CWORD]}" words
  words=$("${COMP_WORDS[@]:0:COMP_CWORD}" --generate-bash-completion 2>/dev/null)
  COMPREPLY=($(compgen -W "$words" -- "$cur") $(compgen -f -- "$cur"))
}
complete -o filenames -F _sweep_complete sweep
`
	zshCompletion = `#compdef sweep
_sweep() {
  local -a words
  words=("${(@f)$(${words[1,$((CURRENT-1))]} --generate-bash-completion 2>/dev/null)}")
  _describe 'sweep' words
  _files
}
compdef _sweep sweep
`
	fishCompletion = `complete -c sweep -f -n '__fish_use_subcommand' -a '(sweep --generate-bash-completion)'
`
)

func completionCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print a shell completion script", ArgsUsage: "bash|zsh|fish",
		Description: "  source <(sweep completion bash)\n  sweep completion zsh > ~/.zfunc/_sweep",
		Action: func(c *cli.Context) error {
			script, ok := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Args().First()]
			if !ok || c.NArg() != 1 {
				return usage("completion takes one of bash, zsh, fish")
			}
			_, err := fmt.Fprint(s.out, script)
			return err
		},
	}
}

// completeNights offers the nights that can be followed or stopped: those on
// other hosts and, where here is wanted too, those of this machine.
func completeNights(here bool) cli.BashCompleteFunc {
	return func(c *cli.Context) {
		if here {
			if nights, err := hereNow(c); err == nil {
				for _, n := range nights {
					fmt.Fprintln(c.App.Writer, n.Night)
				}
			}
		}
		if entries, _, err := registry().List(); err == nil {
			for _, e := range entries {
				if !e.Ended {
					fmt.Fprintln(c.App.Writer, e.Handle())
				}
			}
		}
		cli.DefaultCompleteWithFlags(c.Command)(c)
	}
}

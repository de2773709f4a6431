package remote

import (
	"context"
	"fmt"
	"path"
)

// canExecScript makes a program in the directory and runs it: mount options,
// policies and permissions are all in the answer.
const canExecScript = `umask 077
mkdir -p "$1" || exit 98
trap 'rm -f "$2"' EXIT
trap 'exit 98' HUP INT TERM PIPE
printf '#!/bin/sh\nexit 0\n' >"$2" && chmod 700 "$2" || exit 98
"$2" || exit 96`

// CanExec tells whether programs in a directory of the host may run: /tmp and
// home directories are often mounted noexec. The directory is made if it is
// not there; it is an error if nothing can be written into it.
func (h *Host) CanExec(ctx context.Context, dir string) (bool, error) {
	if err := checkPath(dir); err != nil {
		return false, err
	}
	stderr := &tail{max: 1 << 10}
	code, err := h.Run(ctx, Cmd{label: "write and run a file", Argv: []string{"/bin/sh", "-c", canExecScript, "sh", dir, path.Join(dir, "."+newMark())},
		Sudo: h.settings.Sudo, Stderr: stderr})
	switch {
	case err != nil:
		return false, fmt.Errorf("try whether %s may execute: %w", dir, err)
	case code == 0:
		return true, nil
	case code == 96:
		return false, nil
	}
	return false, fmt.Errorf("%s: try whether %s may execute: %s", h.settings.name(), dir, ending(string(stderr.kept), 200))
}

package check

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"sweep/internal/incus"
	"sweep/internal/sweep"
)

// toolTime bounds one question to a container tool.
const toolTime = 20 * time.Second

// tool says whether the container tool of the plan is here, answers, and may
// be used by this user.
func (c *checker) tool(ctx context.Context) []Result {
	ctx, cancel := context.WithTimeout(ctx, toolTime)
	defer cancel()
	kind := c.plan.Runtime()
	if c.rtErr != nil {
		return []Result{{Host, Fail, kind, clip(c.rtErr.Error()), ""}}
	}
	switch kind {
	case sweep.RuntimeProcess:
		return []Result{{Host, OK, "runtime", "the bare machine: servers run beside everything else here", ""}}
	case sweep.RuntimeIncus:
		return []Result{c.incusTool(ctx)}
	case sweep.RuntimeLXC, sweep.RuntimePct:
		return []Result{c.lxcTool(ctx, kind)}
	case sweep.RuntimeDocker:
		return []Result{c.dockerTool(ctx)}
	}
	return []Result{{Host, Fail, kind, "this sweep does not know that runtime", "name another"}}
}

func (c *checker) incusTool(ctx context.Context) Result {
	client := c.o.Tools.incus()
	s, err := client.Server(ctx)
	if err == nil {
		err = client.CheckProject(ctx)
	}
	if err != nil {
		return Result{Host, Fail, "incus", clip(err.Error()), ""}
	}
	text := "Incus " + s.Version + " answers"
	if s.Storage != "" {
		text += ", storage " + s.Storage
	}
	if p := client.Project(); p != incus.DefaultProject {
		text += ", project " + p
	}
	return Result{Host, OK, "incus", text, ""}
}

var versionWord = regexp.MustCompile(`[0-9]+\.[0-9]+[0-9.]*`)

// lxcTool is for the tools that have no daemon: root is all they need.
func (c *checker) lxcTool(ctx context.Context, kind string) Result {
	if os.Geteuid() != 0 {
		return Result{Host, Fail, kind, "it needs root", "run sweep as root, or with sudo: true in hosts.yaml"}
	}
	version := func(argv ...string) string {
		if out, code, err := c.o.Command.Run(ctx, argv...); err == nil && code == 0 {
			return versionWord.FindString(string(out))
		}
		return ""
	}
	found := version("lxc-info", "--version")
	if found == "" {
		return Result{Host, Fail, kind, "lxc-info does not say its version", "is LXC installed whole on this host?"}
	}
	text := "LXC " + found
	if kind == sweep.RuntimePct {
		if _, code, err := c.o.Command.Run(ctx, "pct", "list"); err != nil || code != 0 {
			return Result{Host, Fail, kind, "`pct list` fails", "see what it says by hand; is this a Proxmox VE host?"}
		}
		if pve := version("pveversion"); pve != "" {
			text = "Proxmox VE " + pve + ", " + text
		}
		text = "pct answers, " + text
	}
	return Result{Host, OK, kind, text + ", root", ""}
}

func (c *checker) dockerTool(ctx context.Context) Result {
	program := filepath.Base(cmp.Or(c.o.Tools.Docker, sweep.RuntimeDocker))
	out, code, err := c.o.Tools.docker(ctx, "version", "--format", "{{.Server.Version}}")
	switch {
	case err != nil:
		return Result{Host, Fail, program, clip(err.Error()), "see what `" + program + " version` says"}
	case code != 0:
		return Result{Host, Fail, program, lastLine(string(out)), "start its daemon, or add this user to its group"}
	}
	return Result{Host, OK, program, program + " " + clip(strings.TrimSpace(string(out))) + " answers", ""}
}

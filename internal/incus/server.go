package incus

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// Server is what the daemon says of itself.
type Server struct {
	Version string // "6.0.4"
	User    string // whom it takes us for
	Kernel  string // version
	OS      string // "Debian GNU/Linux 12"
	Arch    string // of the kernel: "x86_64"
	Storage string // drivers in use, "dir" or "btrfs | zfs"; empty when there is no pool
}

// needed are the extensions of the API 1.0 that this package uses. All are
// older than Incus itself except the last, which its first release has.
var needed = []string{
	"instances", "projects", "api_filtering", "etag", "resources_gpu", "resources_v2",
	"container_exec_signal_handling", "container_exec_user_group_cwd", "container_disk_shift", "instance_file_head",
}

// Server asks the daemon once, with no patience: it is the check before
// anything else, and a person waits for it. The error says what is wrong (no
// socket, no permission, a daemon that hangs, something else behind the
// socket) and what to do about it.
func (c *Client) Server(ctx context.Context) (Server, error) {
	const op = "ask the Incus daemon who it is"
	var s struct {
		Auth        string   `json:"auth"`
		User        string   `json:"auth_user_name"`
		API         string   `json:"api_version"`
		Extensions  []string `json:"api_extensions"`
		Environment struct {
			Server    string `json:"server"`
			Version   string `json:"server_version"`
			Kernel    string `json:"kernel_version"`
			Arch      string `json:"kernel_architecture"`
			OS        string `json:"os_name"`
			OSVersion string `json:"os_version"`
			Storage   string `json:"storage"`
		} `json:"environment"`
	}
	_, err := c.getOnce(ctx, request{path: at()}, &s)
	switch {
	case err != nil && lost(err) && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return Server{}, &Error{Op: op, Kind: err, Text: "it hangs: look at its log, or restart it with `systemctl restart incus`; containers live on"}
	case err != nil:
		return Server{}, fail(op, err)
	case s.API != "1.0" || s.Environment.Server != "" && s.Environment.Server != "incus":
		return Server{}, &Error{Op: op, Kind: ErrAnswer, Text: clean("behind " + c.socket + " is " + s.Environment.Server + " with API " + s.API)}
	case s.Auth != "trusted":
		return Server{}, &Error{Op: op, Text: "it does not trust this user: add the user to the group incus-admin and log in again, or run this with sudo"}
	}
	if missing := slices.DeleteFunc(slices.Clone(needed), func(e string) bool { return slices.Contains(s.Extensions, e) }); len(missing) > 0 {
		return Server{}, &Error{Op: op, Text: clean("version " + s.Environment.Version + " is too old, it lacks " + strings.Join(missing, ", ") + ": Incus 6.0 or later is needed")}
	}
	e := s.Environment
	return Server{Version: clean(e.Version), User: clean(s.User), Kernel: clean(e.Kernel), Arch: clean(e.Arch),
		OS: clean(e.OS + " " + e.OSVersion), Storage: clean(e.Storage)}, nil
}

// CheckProject returns ErrProject when the client's project is not there.
func (c *Client) CheckProject(ctx context.Context) error {
	var p struct{}
	err := c.get(ctx, request{path: at("projects", c.project)}, &p)
	return fail("look for the project "+c.project, c.asProject(err))
}

// asProject says what to do when the look for the project found none.
func (c *Client) asProject(err error) error {
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrProject) {
		return &Error{Code: 404, Kind: ErrProject, Text: "make it with `incus project create " + clean(c.project) + "`, or name another"}
	}
	return err
}

// failed is fail, with one look at the project where something was not found:
// the daemon answers both with the same code.
func (c *Client) failed(ctx context.Context, op string, err error) error {
	if errors.Is(err, ErrProject) || errors.Is(err, ErrNotFound) && c.project != DefaultProject && ctx.Err() == nil {
		if missing := c.CheckProject(ctx); errors.Is(missing, ErrProject) {
			return fail(op, missing)
		}
	}
	return fail(op, err)
}

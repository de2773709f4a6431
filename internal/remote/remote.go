// Package remote reaches another host over SSH: run a command, push a file,
// pull one, follow one that grows. How a host is reached comes from
// ~/.ssh/config, the agent, known_hosts and what hosts.yaml says over them.
//
// It asks nothing of the host but sshd and the plain tools of any Linux (sh,
// cat, dd, head, stat, find): there are hosts without the sftp subsystem. Host
// keys are always checked, and nothing ever prompts.
//
// Three ends of a command are kept apart: an exit code, a signal, and a lost
// connection, after which nobody knows whether the command took effect. Such a
// command is never run a second time by this package.
package remote

import (
	"fmt"
	"time"
)

// Target is a host as a person names it. What is empty is taken from the SSH
// configuration of the alias.
type Target struct {
	Alias   string // a Host of ~/.ssh/config, or a name that DNS knows
	Address string // name or address, with :port where it is not 22
	User    string
	Sudo    bool // files on the host belong to root: reach them through sudo -n
}

// Settings are all that is needed to reach a host, resolved and expanded.
type Settings struct {
	Alias          string
	Host           string // name or address that is dialled
	Port           int
	User           string
	Sudo           bool
	Identities     []string // key files, in the order in which they are offered
	Explicit       bool     // the key files were configured, they are not the usual names
	IdentitiesOnly bool     // offer no other key of the agent
	Agent          string   // socket of the agent; "" when there is none
	HostKeyAlias   string   // name in known_hosts where it is not Host
	KnownHosts     []string // files that are looked into; new keys go to the first
	HashKnownHosts bool     // write the name of a new host as a hash
	AcceptNew      bool     // the configuration says StrictHostKeyChecking accept-new
	ConnectTimeout time.Duration
	KeepAlive      time.Duration // between two questions whether the host is there
	KeepAliveCount int           // unanswered questions until the connection counts as lost
	Jumps          []Settings    // hosts that are passed on the way, the nearest first
}

// Warning is something in an SSH configuration that is not followed.
type Warning struct {
	File string
	Line int
	Text string
}

func (w Warning) String() string { return fmt.Sprintf("%s:%d: %s", w.File, w.Line, w.Text) }

// ConfigError is an SSH configuration by which the host cannot be reached.
type ConfigError struct {
	File string // "": hosts.yaml or the arguments, not a file of SSH
	Line int
	Text string
}

func (e *ConfigError) Error() string {
	if e.File == "" {
		return e.Text
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text)
}

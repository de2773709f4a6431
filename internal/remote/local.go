package remote

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
)

// Local is what this machine and this user bring along. Empty fields are what
// ssh itself would use.
type Local struct {
	Home             string
	User             string
	Config           string   // ~/.ssh/config
	SystemConfig     string   // /etc/ssh/ssh_config
	GlobalKnownHosts []string // /etc/ssh/ssh_known_hosts
	Getenv           func(string) string
}

func (l Local) filled() (Local, error) {
	if l.Getenv == nil {
		l.Getenv = os.Getenv
	}
	if l.Home == "" || l.User == "" {
		// Like ssh, which looks into the user database: HOME may be another's
		// under sudo, but here the user database may not know us in a container.
		me, err := user.Current()
		if err != nil && (l.Getenv("HOME") == "" || l.Getenv("USER") == "") {
			return l, fmt.Errorf("find out who runs this: %w", err)
		}
		if err != nil {
			me = &user.User{HomeDir: l.Getenv("HOME"), Username: l.Getenv("USER")}
		}
		if l.Home == "" {
			l.Home = me.HomeDir
		}
		if l.User == "" {
			l.User = me.Username
		}
	}
	if l.Config == "" {
		l.Config = filepath.Join(l.Home, ".ssh", "config")
	}
	if l.SystemConfig == "" {
		l.SystemConfig = "/etc/ssh/ssh_config"
	}
	if l.GlobalKnownHosts == nil {
		l.GlobalKnownHosts = []string{"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"}
	}
	return l, nil
}

package remote

import (
	"path/filepath"
	"strings"
)

// keys finds the key files and the agent.
func (r *resolver) keys(s *Settings) error {
	for _, at := range r.found {
		if at.keyword != "identityfile" {
			continue
		}
		list, err := words(at.value)
		if err != nil || len(list) != 1 {
			return at.err("IdentityFile takes one file name; put a name with blanks into double quotes")
		}
		if strings.EqualFold(list[0], "none") {
			s.Explicit = true
			continue
		}
		file, err := r.tokens.path(list[0], r.local.Getenv)
		if err != nil {
			return at.err("IdentityFile: %v", err)
		}
		s.Identities, s.Explicit = append(s.Identities, file), true
	}
	if !s.Explicit {
		for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
			s.Identities = append(s.Identities, filepath.Join(r.local.Home, ".ssh", name))
		}
	}
	only, err := r.yes("identitiesonly")
	if err != nil {
		return err
	}
	s.IdentitiesOnly = only
	return r.agent(s)
}

func (r *resolver) agent(s *Settings) error {
	s.Agent = r.local.Getenv("SSH_AUTH_SOCK")
	value, at, err := r.one("identityagent")
	if err != nil {
		return err
	}
	switch {
	case value == "" || value == "SSH_AUTH_SOCK":
	case strings.EqualFold(value, "none"):
		s.Agent = ""
	case strings.HasPrefix(value, "$") && !strings.HasPrefix(value, "${"):
		s.Agent = r.local.Getenv(value[1:])
	default:
		if s.Agent, err = r.tokens.path(value, r.local.Getenv); err != nil {
			return at.err("IdentityAgent: %v", err)
		}
	}
	return nil
}

// hostKeys finds the known_hosts files and what is done with a new host.
func (r *resolver) hostKeys(s *Settings) error {
	user := []string{"~/.ssh/known_hosts", "~/.ssh/known_hosts2"}
	global := r.local.GlobalKnownHosts
	for _, list := range []struct {
		keyword string
		files   *[]string
	}{{"userknownhostsfile", &user}, {"globalknownhostsfile", &global}} {
		at, ok := r.first(list.keyword)
		if ok {
			files, err := words(at.value)
			if err != nil {
				return at.err("%s: %v", list.keyword, err)
			}
			*list.files = files
		}
		for _, file := range *list.files {
			if strings.EqualFold(file, "none") {
				continue
			}
			file, err := r.tokens.path(file, r.local.Getenv)
			if err != nil {
				return at.err("%s: %v", list.keyword, err)
			}
			s.KnownHosts = append(s.KnownHosts, file)
		}
	}
	hash, err := r.yes("hashknownhosts")
	if err != nil {
		return err
	}
	s.HashKnownHosts = hash
	strict, at, err := r.one("stricthostkeychecking")
	if err != nil {
		return err
	}
	switch strings.ToLower(strict) {
	case "accept-new":
		s.AcceptNew = true
	case "no", "off", "false":
		s.AcceptNew = true
		r.warnings = append(r.warnings, Warning{at.file, at.number,
			"StrictHostKeyChecking no is taken as accept-new: a changed host key is always refused"})
	}
	return nil
}

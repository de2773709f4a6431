package move

import (
	"strconv"
	"strings"

	"sweep/internal/remote"
)

// Tunnel is the ssh command that makes an address over there reachable at a
// port of this machine, for a person to paste.
func (p *Place) Tunnel(port, address string) string {
	words := []string{"ssh", "-N", "-L", port + ":" + address}
	if p.reached.Config != "" {
		words = append(words, "-F", p.reached.Config)
	}
	target := p.reached.Target
	if target.Address == "" && target.User == "" {
		words = append(words, target.Alias)
	} else { // hosts.yaml says how, which ssh does not read
		s := p.host.Settings()
		if s.Port != 22 {
			words = append(words, "-p", strconv.Itoa(s.Port))
		}
		words = append(words, s.User+"@"+s.Host)
	}
	for i, word := range words {
		words[i] = plain(word)
	}
	return strings.Join(words, " ")
}

// plain quotes a word only where the shell needs it.
func plain(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_+=:,./-[]") == "" {
		return word
	}
	return remote.Quote(word)
}

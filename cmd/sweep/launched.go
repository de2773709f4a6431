package main

import (
	"fmt"
	"net/url"

	"github.com/urfave/cli/v2"

	"sweep/internal/move"
)

// launched is a server that `sweep launch` left, as --json tells of it.
type launched struct {
	Schema    int     `json:"schema"`
	Name      string  `json:"name"` // of its configuration
	Instance  string  `json:"instance"`
	Container string  `json:"container"` // "": on the bare machine
	URL       string  `json:"url"`
	Inside    bool    `json:"inside"` // the URL is one inside the container
	Ready     float64 `json:"ready_s"`
	End       string  `json:"end"` // the command that ends it
}

// writeLaunched prints the URL, and how one gets there where the server is on
// another host.
func writeLaunched(c *cli.Context, s streams, l launched, place *move.Place) error {
	if c.Bool("json") {
		return writeJSON(s.out, l)
	}
	tell(s.err, fmt.Sprintf("sweep: %s serves after %.0f s and stays; `%s` ends it", printable(l.Name), l.Ready, printable(l.End)))
	switch {
	case l.Inside:
		tell(s.err, fmt.Sprintf("sweep: no address of the container %s leads here: the URL is one inside it", printable(l.Container)))
	case place != nil:
		tell(s.err, "sweep: "+fromHere(l.URL, place))
	}
	_, err := fmt.Fprintln(s.out, printable(l.URL))
	return err
}

// fromHere says where a URL of another host can be reached.
func fromHere(address string, place *move.Place) string {
	u, err := url.Parse(address)
	if err != nil || u.Port() == "" {
		return "the URL is reachable from " + place.Name()
	}
	return fmt.Sprintf("the URL is reachable from %s; from here: `%s`, then http://127.0.0.1:%s", place.Name(), place.Tunnel(u.Port(), u.Host), u.Port())
}

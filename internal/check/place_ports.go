package check

import (
	"cmp"
	"fmt"
)

// judgePorts says which planned ports are taken where servers listen.
func (l *look) judgePorts(p Place) {
	for i, h := range p.Ports {
		if i == 3 {
			l.say(Ports, Fail, "taken", fmt.Sprintf("and %d more", len(p.Ports)-3), "")
			return
		}
		l.say(Ports, Fail, "taken", fmt.Sprintf("port %d is held by %s", h.Port, cmp.Or(h.By, "a process that cannot be seen")), "end it, or plan others with --base-port or base-port in hosts.yaml")
	}
	if len(p.Ports) > 0 {
		return
	}
	first, last := 0, 0
	for _, r := range l.plan.Runs {
		if first == 0 || r.Port < first {
			first = r.Port
		}
		last = max(last, r.Port)
	}
	l.say(Ports, OK, "planned", fmt.Sprintf("%d to %d are free", first, last), "")
	if l.in.OnHost {
		return
	}
	var all []int
	for _, r := range l.plan.Runs {
		all = append(all, r.Port)
	}
	if held := heldPorts(all); len(held) > 0 {
		l.say(Ports, Note, "on the host", fmt.Sprintf("port %d is held there by %s: no matter, unless the container shares its network", held[0].Port, cmp.Or(held[0].By, "somebody")), "")
	}
}

package check

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sweep/internal/sweep"
)

// cardNode is a device node of one card.
var cardNode = regexp.MustCompile(`^/dev/nvidia[0-9]+$`)

// judgeCards goes through the layers between a server and its cards, from the
// device nodes up, and names the first that is missing: each has another remedy.
func (l *look) judgeCards(a answered) {
	need := l.needs()
	if need == 0 {
		return
	}
	where := "in " + l.name
	if l.in.OnHost {
		where = "on this machine"
	}
	var nodes []string
	for _, d := range a.place.Devices {
		if cardNode.MatchString(d) {
			nodes = append(nodes, d)
		}
	}
	const what = "in place"
	switch {
	case len(nodes) == 0:
		l.say(GPUs, Fail, what, "there is no GPU device "+where+" (/dev/nvidia0, …)", l.deviceRemedy())
		return
	case len(nodes) < need:
		l.say(GPUs, Fail, what, fmt.Sprintf("%d GPU devices are %s, and %d are needed", len(nodes), where, need), l.deviceRemedy())
		return
	}
	for _, name := range []string{"/dev/nvidiactl", "/dev/nvidia-uvm"} {
		if !slices.Contains(a.place.Devices, name) {
			l.say(GPUs, Fail, what, name+" is missing "+where, "load the module on the host (`nvidia-modprobe -u -c 0`), then restart the container")
			return
		}
	}
	if len(a.place.Locked) > 0 {
		l.say(GPUs, Fail, what, fmt.Sprintf("user %d may not open %s", a.place.User, a.place.Locked[0]), "restart the container: a daemon-reload on the host takes its cards away; else see its device rules")
		return
	}
	switch c := a.cards; {
	case a.cardsErr != nil, c.Slow:
		l.say(GPUs, Fail, what, "nvidia-smi does not answer "+where+", tried twice", "see `dmesg | grep -i xid` on the host; a lost card can hang it")
	case a.place.Module != "" && a.place.Library != "" && a.place.Module != a.place.Library, c.Code == 18:
		l.say(GPUs, Fail, what, fmt.Sprintf("driver and library differ: the host runs %s, the library %s is %s", cmp.Or(a.place.Module, "another driver"), where, cmp.Or(a.place.Library, "another version")),
			"give the container the host's library (Incus: nvidia.runtime=true), or restart it after the driver's update")
	case c.Path == "" && a.place.Library == "":
		l.say(GPUs, Fail, what, "there is no NVIDIA library "+where, "give the container the host's (Incus: nvidia.runtime=true; docker: --gpus), or install it")
	case c.Path == "":
		l.say(GPUs, Warn, what, fmt.Sprintf("%d devices; no nvidia-smi %s to count the cards", len(nodes), where), "")
	case c.Code == 9:
		l.say(GPUs, Fail, what, "nvidia-smi reaches no driver "+where, "see nvidia-smi on the host; is the kernel module loaded?")
	case c.Code == 6 || c.Code == 0 && c.Count == 0:
		l.say(GPUs, Fail, what, "nvidia-smi finds no card "+where, l.deviceRemedy())
	case c.Code != 0 && strings.Contains(c.Said, "Unknown Error"):
		l.say(GPUs, Fail, what, "nvidia-smi "+where+": "+c.Said, "restart the container: a daemon-reload on the host (unattended upgrades do it) takes its cards away")
	case c.Code != 0 || c.Said != "":
		l.say(GPUs, Fail, what, fmt.Sprintf("nvidia-smi %s: exit %d: %s", where, c.Code, c.Said), "see what it says there by hand")
	case c.Count < need:
		l.say(GPUs, Fail, what, fmt.Sprintf("%d cards are seen %s, and %d are needed", c.Count, where, need), l.deviceRemedy())
	default:
		l.say(GPUs, OK, what, fmt.Sprintf("%d cards are seen %s, %d are needed", c.Count, where, need), "")
	}
}

// deviceRemedy is how a container of this kind gets its cards.
func (l *look) deviceRemedy() string {
	switch c := l.spot.container; {
	case l.in.OnHost:
		return "install the driver, or load its module"
	case c.Fresh():
		return "write them under container.devices"
	case c.Runtime == sweep.RuntimeIncus:
		return "incus config device add " + c.Instance + " gpu gpu"
	case c.Runtime == sweep.RuntimePct:
		return "add the devices with `pct set " + c.Instance + " --dev0 /dev/nvidia0 …`"
	}
	return "give the container /dev/nvidia0, …, /dev/nvidiactl and /dev/nvidia-uvm"
}

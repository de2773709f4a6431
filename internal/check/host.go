package check

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"sweep/internal/sweep"
)

func hostname() string {
	name, _ := os.Hostname()
	return name
}

// lockHolder tells whether a sweep holds the host's lock, and what it wrote
// there. The lock is only tried, for a moment, and never kept.
func lockHolder(path string) (owner string, held bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false // never taken yet
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
		return "", false
	}
	text, _ := readSome(path, 300)
	return strings.TrimSpace(string(text)), true
}

// few names the first few of a list.
func few(names []string, most int) string {
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// firstYear is before any release of sweep: an earlier clock is wrong.
const firstYear = 2025

func (c *checker) clockAndSecrets() []Result {
	now := time.Now()
	clock := Result{Host, OK, "clock", now.Format("2006-01-02 15:04 MST"), ""}
	switch synced := clockSynchronised(); {
	case now.Year() < firstYear:
		clock.Grade, clock.Finding, clock.Remedy = Fail, "it is "+now.Format("2006-01-02")+" here", "set the clock: deadlines and records go by it"
	case synced != nil && !*synced:
		clock.Grade, clock.Finding = Note, clock.Finding+"; no NTP keeps it right, says the kernel"
	}
	results := []Result{clock}
	if n := c.plan.Night.Deadline; n != nil {
		if at, err := n.After(now, time.Local); err == nil {
			results = append(results, Result{Host, OK, "deadline", fmt.Sprintf("%s is in %s", n, at.Sub(now).Round(time.Minute)), ""})
		}
	}
	if len(c.plan.Secrets) == 0 || c.o.HasSecret == nil {
		return results
	}
	var missing []string
	for _, name := range c.plan.Secrets {
		if !c.o.HasSecret(name) {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		return append(results, Result{Host, Fail, "secrets", few(missing, 4) + " not set in this environment", "export them before `sweep run`"})
	}
	return append(results, Result{Host, OK, "secrets", few(c.plan.Secrets, 4) + " set", ""})
}

// disks looks at what sweep writes on this host.
func (c *checker) disks() []Result {
	var results []Result
	for _, d := range []struct{ what, dir string }{{"records", c.o.DataDir}, {"state", c.o.StateDir}} {
		if d.dir == "" {
			continue
		}
		if why := tryBelow(d.dir); why != "" {
			results = append(results, Result{Storage, Fail, d.what, d.dir + " cannot be written: " + why, "mend it, or choose another with --data or XDG_STATE_HOME"})
			continue
		}
		results = append(results, space(d.what, diskOf(d.dir))...)
	}
	return results
}

// tryBelow tries to write in a directory, or where it would be made.
func tryBelow(dir string) string {
	for {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return "it is no directory"
		}
		if err == nil {
			return tryWrite(dir)
		}
		if dir == "/" || dir == "." || !errors.Is(err, os.ErrNotExist) {
			return plainError(err)
		}
		dir = parent(dir)
	}
}

func parent(dir string) string {
	dir = strings.TrimRight(dir, "/")
	if i := strings.LastIndexByte(dir, '/'); i > 0 {
		return dir[:i]
	}
	return "/"
}

// How much room a night needs for logs and requests, bytes.
const (
	littleSpace = 10 << 30
	noSpace     = 1 << 30
)

func space(what string, d *Disk) []Result {
	switch {
	case d == nil:
		return []Result{{Storage, Warn, what, "how much room there is cannot be told", "look with df"}}
	case d.Free < noSpace:
		return []Result{{Storage, Fail, what, fmt.Sprintf("%s left on %s", size(d.Free), d.Mount), "make room: logs and requests of a night need it"}}
	case d.Free < littleSpace:
		return []Result{{Storage, Warn, what, fmt.Sprintf("%s left on %s", size(d.Free), d.Mount), "a long night may fill it"}}
	}
	return []Result{{Storage, OK, what, fmt.Sprintf("%s, %s free", d.Path, size(d.Free)), ""}}
}

// size writes bytes for a person.
func size(bytes uint64) string {
	switch {
	case bytes >= 10<<40:
		return fmt.Sprintf("%d TiB", bytes>>40)
	case bytes >= 1<<30:
		return fmt.Sprintf("%.0f GiB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d KiB", bytes>>10)
}

// cardsNeeded is how many GPUs a configuration takes on one host.
func cardsNeeded(c sweep.Configuration) int {
	number := func(names ...string) int {
		for _, s := range c.Flags {
			for _, name := range names {
				var n int
				if s.Name == name && len(s.Value.Words) == 1 {
					if _, err := fmt.Sscanf(s.Value.Words[0], "%d", &n); err == nil && n > 0 && n < 1<<16 {
						return n
					}
				}
			}
		}
		return 1
	}
	world := number("tp-size", "tensor-parallel-size", "tp") * number("pp-size", "pipeline-parallel-size")
	if !has(c, "enable-dp-attention") { // there the data-parallel ranks live inside tp
		world *= number("dp-size", "data-parallel-size", "dp")
	}
	nodes := number("nnodes")
	return (world + nodes - 1) / nodes
}

func has(c sweep.Configuration, flag string) bool {
	for _, s := range c.Flags {
		if s.Name == flag {
			return s.Value.Kind != "omit" && s.Value.Kind != "off"
		}
	}
	return false
}

// mostCards is the largest that any real server of a plan needs, 0 for none.
func mostCards(configs []sweep.Configuration) (cards int, name string) {
	for _, c := range configs {
		if n := cardsNeeded(c); !simulated(c) && n > cards {
			cards, name = n, c.Name
		}
	}
	return cards, name
}

package check

import (
	"fmt"
	"slices"
	"strings"
)

// Sizes of shared memory. A container tool that gives 64 MB (docker's default)
// makes NCCL's first segment fail with two ranks; NCCL's own advice for
// containers is a gigabyte.
const (
	shmTooSmall = 64 << 20
	shmSmall    = 1 << 30
)

// spareFiles are those that a server has open beside its connections.
const spareFiles = 1024

// judgeRoom judges limits and storage of a place.
func (l *look) judgeRoom(p Place) {
	need := l.needs()
	switch {
	case p.DirTry != "":
		l.say(Storage, Fail, "directory", fmt.Sprintf("user %d cannot write in %s: %s", p.User, l.in.Dir, p.DirTry), "mount it with shift=true, or let that user own it")
	case !l.in.OnHost: // the bare machine's is the state directory
		d := p.Dir
		if d != nil { // not the instance itself, which is gone in a moment
			d = &Disk{Path: parent(l.in.Dir), Mount: d.Mount, Type: d.Type, Total: d.Total, Free: d.Free}
		}
		for _, r := range space("directory", d) {
			l.say(r.Group, r.Grade, r.What, r.Finding, r.Remedy)
		}
	}
	if need > 1 {
		switch s := p.Shm; {
		case s == nil || s.Mount != "/dev/shm":
			l.say(Storage, Warn, "/dev/shm", "it is no file system of its own", "mount a tmpfs of 1 GiB or more there")
		case s.Total <= shmTooSmall:
			l.say(Storage, Fail, "/dev/shm", fmt.Sprintf("%s: NCCL fails with %d ranks", size(s.Total), need), "docker: --shm-size 8g; LXC: a larger tmpfs mount")
		case s.Total < shmSmall:
			l.say(Storage, Warn, "/dev/shm", size(s.Total)+": NCCL's advice is 1 GiB or more", "docker: --shm-size 8g; LXC: a larger tmpfs mount")
		case s.Free < s.Total/2:
			l.say(Storage, Warn, "/dev/shm", fmt.Sprintf("%s of %s left", size(s.Free), size(s.Total)), "dead servers leave segments: look, and remove them")
		default:
			l.say(Storage, OK, "/dev/shm", size(s.Total), "")
		}
		if p.Memlock != nil && *p.Memlock != Unlimited {
			l.say(Container, Note, "memlock", "locked memory is limited to "+size(*p.Memlock), "unlimited (ulimit -l) is NCCL's advice")
		}
	}
	l.judgeFiles(p)
	if need > 0 {
		l.judgeCaches(p)
	}
}

// judgeFiles compares the limit of open files with the largest level: each
// request is a connection, at the server and at the bench beside it.
func (l *look) judgeFiles(p Place) {
	most := 0
	for _, level := range l.plan.Levels {
		if most = max(most, level.Concurrency); level.Rate > 0 { // nothing bounds what is in flight
			most = max(most, level.Prompts)
		}
	}
	switch {
	case p.NoFile == nil:
		l.say(Container, Warn, "open files", "their limit is not known", "")
	case *p.NoFile < uint64(most+spareFiles):
		l.say(Container, Fail, "open files", fmt.Sprintf("the hard limit is %d, and %s at once need %d", *p.NoFile, plural(most, "request", "requests"), most+spareFiles), "raise it (ulimit -Hn, limits.kernel.nofile, --ulimit nofile)")
	case *p.NoFile == Unlimited:
		l.say(Container, OK, "open files", "no limit", "")
	default:
		l.say(Container, OK, "open files", fmt.Sprintf("limit %d, at most %s at once", *p.NoFile, plural(most, "request", "requests")), "")
	}
}

// judgeCaches says where compiled kernels are kept: on storage that goes with
// the container, each start compiles anew.
func (l *look) judgeCaches(p Place) {
	var lost, kept []string
	low := ""
	for _, c := range p.Caches {
		switch {
		case c.Try != "":
			l.say(Storage, Warn, "cache", fmt.Sprintf("user %d cannot write in %s: %s", p.User, c.Path, c.Try), "kernels are compiled anew at each start: mend it (shift=true on a disk device)")
			continue
		case c.Disk == nil:
			continue
		case c.Disk.Type == "tmpfs" || l.spot.container.Fresh() && c.Disk.Mount == "/":
			lost = append(lost, c.Name)
			continue
		case c.Disk.Free < noSpace:
			low = c.Path
		}
		kept = append(kept, c.Name)
	}
	if low != "" {
		l.say(Storage, Warn, "cache", "less than "+size(noSpace)+" left for "+low, "make room: compiled kernels take gigabytes")
	}
	switch home := cacheHome(p.Caches); {
	case len(lost) > 0 && l.spot.container.Fresh():
		l.say(Storage, Warn, "caches", "compiled kernels ("+strings.Join(lost, ", ")+") go with each fresh container: every start compiles anew, 10 min and more", "add a disk device on "+home+" under container.devices")
	case len(lost) > 0:
		l.say(Storage, Warn, "caches", "compiled kernels ("+strings.Join(lost, ", ")+") are kept in memory: they are lost at a restart", "keep them on a disk")
	case len(kept) > 0:
		l.say(Storage, OK, "caches", "compiled kernels outlive a start", "")
	}
}

// cacheHome is where most caches are.
func cacheHome(caches []Cache) string {
	i := slices.IndexFunc(caches, func(c Cache) bool { return strings.Contains(c.Path, "/.cache/") })
	if i < 0 {
		return "their directories"
	}
	before, _, _ := strings.Cut(caches[i].Path, "/.cache/")
	return before + "/.cache"
}

package supervise

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// tree finds the processes of a held tree among all, zombies included, the
// supervisor not. What belongs:
//
//   - what is known by pid and start time: the command, and the descendants
//     that the supervisor saw while it lived;
//   - descendants of anything that belongs. While the supervisor lives this is
//     all there is: as a subreaper it adopts whatever loses its parent;
//   - members of the session of anything that belongs, because a session is
//     left only by making a new one and never joined. The session is known even
//     if nothing else is: it is the supervisor's own.
//
// A session whose leader and known members are gone could be a stranger's that
// got the same number. There a process belongs only if it says so itself: it
// must have the held output file open as its own output.
//
// Nothing that is older than the supervisor belongs, whatever else points to
// it, nor does a session whose leader lives and does not belong: a tree that
// reached a stranger would be that stranger's end.
func tree(all map[int]process, r record, known []identity, writesOutput func(pid int) bool) []process {
	in := map[int]bool{}
	add := func(p process) bool {
		if in[p.PID] || p.PID == 1 || p.Start < r.Supervisor.Start {
			return false
		}
		in[p.PID] = true
		return true
	}
	for _, id := range append([]identity{r.Supervisor, r.Command}, known...) {
		if p, ok := all[id.PID]; ok && p.identity == id {
			add(p)
		}
	}
	if _, taken := all[r.Supervisor.PID]; !taken && r.Supervisor.PID > 0 {
		for pid, p := range all {
			if p.session == r.Supervisor.PID && writesOutput(pid) {
				add(p)
			}
		}
	}
	for grew := true; grew; {
		grew = false
		sessions := map[int]bool{}
		for pid := range in {
			leader := all[pid].session
			if _, lives := all[leader]; in[leader] || !lives {
				sessions[leader] = true
			}
		}
		delete(sessions, 0) // led from outside our pid namespace
		for _, p := range all {
			if (in[p.parent] || sessions[p.session]) && add(p) {
				grew = true
			}
		}
	}
	delete(in, r.Supervisor.PID)
	found := make([]process, 0, len(in))
	for pid := range in {
		found = append(found, all[pid])
	}
	slices.SortFunc(found, func(a, b process) int { return cmp.Compare(a.PID, b.PID) })
	return found
}

// heldTree is what a supervisor answers for: the tree, or the command alone.
func heldTree(spec Spec, all map[int]process, r record, known []identity, writesOutput func(pid int) bool) []process {
	if !spec.Alone {
		return tree(all, r, known, writesOutput)
	}
	if p, ok := all[r.Command.PID]; ok && p.identity == r.Command {
		return []process{p}
	}
	return nil
}

// living leaves the zombies out.
func living(found []process) []process {
	return slices.DeleteFunc(slices.Clone(found), func(p process) bool { return !p.alive() })
}

// writesOutput tells whether a process has the directory's output file open as
// its stdout or stderr.
func (m machine) writesOutput(dir string) func(pid int) bool {
	output, err := os.Stat(filepath.Join(dir, OutputFile))
	return func(pid int) bool {
		for _, fd := range []string{"1", "2"} {
			file, openErr := os.Stat(filepath.Join(m.proc, strconv.Itoa(pid), "fd", fd))
			if err == nil && openErr == nil && os.SameFile(output, file) {
				return true
			}
		}
		return false
	}
}

// identities of processes, for tree.json.
func identities(found []process) []identity {
	out := make([]identity, len(found))
	for i, p := range found {
		out[i] = p.identity
	}
	return out
}

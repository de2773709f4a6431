package sim

import (
	"os"
	"strings"
	"syscall"

	"sweep/internal/sglang"
)

// failure is how a server dies: what the log says before sglang kills its own
// process tree, and how the process ends.
type failure struct {
	cause
	phase sglang.PhaseName
	rank  int // of the first replica and stage, which fails first
}

func (f *failure) Error() string { return f.name }

// died says who dies: a rank of the scheduler, the launcher, or nobody who can
// speak.
type died int

const (
	inScheduler died = iota // a rank's exception; the parent then kills the tree
	inLauncher              // a traceback of the main process, exit status 1
	inArgs                  // the same, out of server_args.py
	rankKilled              // a rank is gone without a word; the parent tells
	treeKilled              // everybody is, at once and without a word
	quiet                   // the lines alone, then the exit status
)

// crash writes a failure to the log as sglang does and ends the process as it
// does. It returns the exit status where the process just ends.
func (s *server) crash(f *failure) int {
	d := s.timing.dialect
	rank := s.ranks[min(f.rank, len(s.ranks)-1)]
	for _, l := range f.before {
		s.log.raw(l)
	}
	text := strings.NewReplacer("{phase}", string(f.phase), "{gpu}", s.gpuMemory(f.rank), "{fraction}", repr(s.timing.setup.MemFraction),
		"{watchdog}", repr(s.args.Float("watchdog_timeout")), "{model}", s.args.Text("model_path")).Replace(f.text)
	switch f.died {
	case inScheduler:
		s.log.ranked(rank, "Scheduler hit an exception: Traceback (most recent call last):\n"+
			"  File \"/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py\", line 3130, in run_scheduler_process\n"+
			"    scheduler.run_event_loop()\n%s\n", text)
		s.others(f)
		s.log.line("%s", s.childFailed())
	case inLauncher, inArgs:
		file := "entrypoints/engine.py\", line 1021, in _launch_subprocesses"
		if f.died == inArgs {
			file = "server_args.py\", line 5217, in __post_init__"
		}
		s.log.raw("Traceback (most recent call last):\n  File \"/sgl-workspace/sglang/python/sglang/srt/" + file + "\n" + text)
		return 1
	case rankKilled:
		switch {
		case !s.listening.Load():
			s.log.line("%s", d.deadRank(f.rank, -9))
		case d.lostRank(f.rank) != "":
			s.log.line("%s", d.lostRank(f.rank))
			s.log.line("%s", s.childFailed())
		}
	case treeKilled:
	case quiet:
		for l := range strings.SplitSeq(text, "\n") {
			if l != "" {
				s.log.line("%s", l)
			}
		}
		if f.exit >= 0 {
			return f.exit
		}
		s.log.line("%s", s.childFailed())
	}
	kill()
	return 137
}

// others lets the ranks that waited for the dead one say so, which is what a
// reader of the log must not take for the reason.
func (s *server) others(f *failure) {
	if f.rank == 0 {
		return
	}
	for i, r := range s.ranks {
		if i != f.rank {
			s.log.ranked(r, "Scheduler hit an exception: Traceback (most recent call last):\n"+
				"torch.distributed.DistBackendError: [%d] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Connection reset by peer\n", i)
		}
	}
}

// childFailed is the parent's word, another one while loading than later.
func (s *server) childFailed() string {
	if s.listening.Load() {
		return "SIGQUIT received. signum=None, frame=None. It usually means one child failed."
	}
	return "Received sigquit from a child process. It usually means the child failed."
}

// kill ends this process the way sglang ends itself after most crashes: with
// SIGKILL to its own tree, so that whoever waits for it sees exit status 137 or
// signal 9.
func kill() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }

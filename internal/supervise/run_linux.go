package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Descriptors that the starter hands over.
const (
	statusFD = 3 // a pipe: the report goes there
	lockFD   = 4 // the held directory's lock
)

var errStarterGone = errors.New("the starter ended before it had said everything")

// Run is the supervisor: the body of `supervise run`, in a process that Start
// made for it. It returns the exit code of that process, when the command and
// all of its tree have ended.
func Run(dir string) (code int) {
	status, held, err := inherited(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sweep supervise run:", err)
		return 1
	}
	defer held.Close() // here so that the lock is not collected, and freed, early
	s := &supervisor{dir: dir, machine: thisMachine()}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintln(os.Stderr, "sweep supervise run: a bug in sweep, the tree is ended:", p)
			s.kill()
			code = 4
		}
	}()
	err = s.prepare()
	if err == nil {
		err = s.start()
	}
	var said report
	if err != nil {
		said.Error = err.Error()
		if !errors.Is(err, errStarterGone) { // then nothing was started, and the next start wants a clean output
			fmt.Fprintln(os.Stderr, "sweep supervise run:", err)
		}
	}
	_ = json.NewEncoder(status).Encode(said) // the starter may have gone; the state is on disk
	status.Close()
	if s.command == 0 {
		if err != nil {
			return 1
		}
		return 0
	}
	return s.attend()
}

// inherited takes the starter's descriptors over, so that the command does not
// get them: with the status pipe open in a server, start would never return.
func inherited(dir string) (status, held *os.File, err error) {
	for _, fd := range []int{statusFD, lockFD} {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			return nil, nil, errors.New("this is started by `sweep supervise start`, not by hand")
		}
	}
	status, held = os.NewFile(statusFD, "status"), os.NewFile(lockFD, "lock")
	got, err := held.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("look at the lock: %w", err)
	}
	want, err := os.Stat(filepath.Join(dir, lockFile))
	if err != nil || !os.SameFile(got, want) {
		return nil, nil, errors.New("the lock of another directory was handed over: start this by `sweep supervise start`")
	}
	return status, held, nil
}

// prepare does what must be done before anything is started.
func (s *supervisor) prepare() error {
	// Whatever this program does with signals elsewhere must not end the
	// supervisor. They are caught, not ignored: the command would inherit that.
	signal.Reset(unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	s.signals = make(chan os.Signal, 8)
	signal.Notify(s.signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	s.children = make(chan os.Signal, 1)
	signal.Notify(s.children, unix.SIGCHLD)

	var request StartRequest
	if err := json.NewDecoder(os.Stdin).Decode(&request); err != nil {
		return fmt.Errorf("%w: %w", errStarterGone, err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	defer null.Close()
	if err := unix.Dup3(int(null.Fd()), 0, 0); err != nil {
		return fmt.Errorf("put %s in the place of stdin: %w", os.DevNull, err)
	}
	if leader, err := unix.Getsid(0); err != nil || leader != os.Getpid() {
		return errors.New("not the leader of a session of its own: start this by `sweep supervise start`")
	}
	if there, err := load(s.dir, specFile, &s.spec); err != nil || !there {
		return errors.Join(err, errors.New("read what to start"))
	}
	s.spec.Secrets = request.Secrets
	if err := s.spec.validate(); err != nil {
		return err
	}
	if !s.spec.Alone {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("become a subreaper: %w", err)
		}
	}
	boot, err := s.machine.bootID()
	if err != nil {
		return err
	}
	self, ok := s.machine.process(os.Getpid())
	if !ok {
		return errors.New("read the supervisor's own /proc/PID/stat: is /proc mounted?")
	}
	var earlier record
	if there, err := load(s.dir, stateFile, &earlier); err != nil || there {
		return errors.Join(err, errors.New("something was already started in this directory"))
	}
	s.record = record{ID: s.spec.ID, Boot: boot, Supervisor: self.identity, Since: time.Now().Format(time.RFC3339Nano)}
	return save(s.dir, stateFile, s.record)
}

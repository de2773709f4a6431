package supervise

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// start starts the command. That it cannot be started is no error: it is
// written as the exit.
func (s *supervisor) start() error {
	s.oomFile = ownOOMCounter()
	s.oomBefore = oomKills(s.oomFile)
	pid, err := s.spawn()
	if err != nil {
		return save(s.dir, ExitFile, Exit{Error: err.Error(), At: time.Now()})
	}
	s.command = pid
	// It is not reaped yet, so it is there even if it has ended.
	p, ok := s.machine.process(pid)
	if !ok {
		return s.giveUp(errors.New("read the command's /proc/PID/stat"))
	}
	s.record.Command, s.record.Since = p.identity, time.Now().Format(time.RFC3339Nano)
	if err := save(s.dir, stateFile, s.record); err != nil {
		return s.giveUp(err)
	}
	return nil
}

// giveUp makes attend end everything at once: a command that could not be
// recorded must not run.
func (s *supervisor) giveUp(err error) error {
	s.end(0)
	return err
}

// spawn starts the process: in a group of its own, in the supervisor's session,
// whose number is on disk before anything runs in it.
func (s *supervisor) spawn() (int, error) {
	argv, env, dir := s.spec.Argv, s.spec.environment(), s.spec.Dir
	if dir == "" {
		dir = s.dir
	}
	path, err := Program(argv[0], env)
	if err != nil {
		return 0, err
	}
	if err := limitFiles(s.spec.Nofile); err != nil {
		return 0, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	defer null.Close()
	output, err := os.OpenFile(filepath.Join(s.dir, OutputFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return 0, fmt.Errorf("open the output file: %w", err)
	}
	defer output.Close()
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return 0, fmt.Errorf("the working directory %s is not there", dir) // exec would blame the program
	}
	p, err := os.StartProcess(path, argv, &os.ProcAttr{Dir: dir, Env: env,
		Files: []*os.File{null, output, output}, Sys: &unix.SysProcAttr{Setpgid: true}})
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", argv[0], err)
	}
	pid := p.Pid
	_ = p.Release() // it is reaped by pid, with all others
	return pid, nil
}

// limitFiles sets the limit on open files that the command inherits; not above
// the hard limit where this user may not raise that.
func limitFiles(n uint64) error {
	if n == 0 {
		return nil
	}
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &now); err != nil {
		return fmt.Errorf("read the limit on open files: %w", err)
	}
	if unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: max(n, now.Max)}) == nil {
		return nil
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: min(n, now.Max), Max: now.Max}); err != nil {
		return fmt.Errorf("set the limit on open files: %w", err)
	}
	return nil
}

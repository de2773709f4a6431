package launch

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sweep/internal/sglang"
	"sweep/internal/supervise"
)

// heldProcess is what the life of a server needs of a held process.
type heldProcess interface {
	State(ctx context.Context) (supervise.State, error)
	Exit(ctx context.Context) (*supervise.Exit, error) // null while it lives
	Tail(ctx context.Context, offset int64) ([]byte, error)
	Stop(ctx context.Context, grace time.Duration) (supervise.State, error)
}

// ServerSpec is one server to start.
type ServerSpec struct {
	HoldID string
	Argv   []string // exact; --port and --model-path are read from it to know the server again
	Env    []string // NAME=value, the whole environment
	Port   int
	Grace  time.Duration // between TERM and KILL; 0 means supervise.DefaultGrace
	Ready  Budget

	// Secrets are NAME=value pairs that are added to Env and never written.
	Secrets []string
}

// Server is a server that was started, or found running again. Its methods are
// safe for concurrent use, but only one WaitReady and one Stop at a time make
// sense.
type Server struct {
	spec       ServerSpec
	held       heldProcess
	address    string
	reach      reach
	client     *sglang.Client
	log        *sglang.LogReader
	started    time.Time
	reattached bool
	pace       pace

	healthy  atomic.Bool            // /health was 200 once
	answer   atomic.Pointer[string] // the last answer of a probe that was not the one waited for
	stranger atomic.Bool            // it was last 200 while our own log was loading

	mu     sync.Mutex // guards what follows
	offset int64      // of the log that was read
	grown  time.Time  // when the log last grew
	past   bool       // the log so far was written before we came
}

// pace is how often is looked and how long is waited.
type pace struct {
	poll   time.Duration // for the exit and the log
	call   time.Duration // one look at the held process
	info   time.Duration // /server_info
	settle time.Duration // for a process that fails a request to end, so that its exit is told
	closed time.Duration // for the port to refuse after the stop
	lost   time.Duration // for an instance that cannot be looked at
}

func usualPace() pace {
	return pace{poll: 200 * time.Millisecond, call: 10 * time.Second, info: sglang.InfoTimeout,
		settle: 3 * time.Second, closed: 10 * time.Second, lost: 30 * time.Second}
}

// newServer makes a Server of a held process; client and log are fresh.
func newServer(held heldProcess, reach reach, address string, spec ServerSpec, started time.Time, reattached bool) *Server {
	if spec.Grace <= 0 {
		spec.Grace = supervise.DefaultGrace
	}
	s := &Server{spec: spec, held: held, reach: reach, address: address, log: sglang.NewLogReader(), started: started,
		reattached: reattached, past: reattached, grown: time.Now(), pace: usualPace()}
	s.client = sglang.NewClient(s.URL())
	if t := reach.transport(spec.Port); t != nil {
		s.client = s.client.Over(t)
	}
	if key := flagValue(spec.Argv, "--api-key"); key != "" {
		s.client = s.client.WithKey(key)
	}
	if !reattached {
		s.log.Feed(started, nil)
	}
	return s
}

// URL is where this host reaches the server.
func (s *Server) URL() string {
	return "http://" + net.JoinHostPort(s.address, strconv.Itoa(s.spec.Port))
}

// Client calls the server.
func (s *Server) Client() *sglang.Client { return s.client }

// Log is what was read of the server's log so far.
func (s *Server) Log() *sglang.LogReader { return s.log }

// Reattached tells that the server was running before: it was started by an
// earlier runner.
func (s *Server) Reattached() bool { return s.reattached }

// Started is when the server was started.
func (s *Server) Started() time.Time { return s.started }

// Alive looks whether the server's process lives; the exit is null while it
// does, and where nobody was there to see it.
func (s *Server) Alive(ctx context.Context) (bool, *supervise.Exit, error) {
	ctx, cancel := context.WithTimeout(ctx, s.pace.call)
	defer cancel()
	exit, err := s.held.Exit(ctx)
	if err != nil || exit != nil {
		return false, exit, err
	}
	state, err := s.held.State(ctx)
	if err != nil {
		return false, nil, err
	}
	return lives(state), state.Exit, nil
}

// lives reports whether the command still runs. Under a supervisor that was
// killed the tree may serve on.
func lives(state supervise.State) bool {
	return state.Phase == supervise.Running || state.Phase == supervise.Orphaned && state.Alive > 0
}

// Diagnose reads the log to its end and says why the server failed: the first
// reason in time, with what its exit (null while it lives) adds, and an excerpt
// of the log.
func (s *Server) Diagnose(ctx context.Context, exit *supervise.Exit) (sglang.Cause, []string, error) {
	err := s.ReadLog(ctx)
	if exit != nil {
		s.log.End(time.Now())
	}
	phase, _ := s.log.Current()
	info := sglang.ExitInfo{Phase: phase, Last: s.log.Last()}
	if exit != nil {
		info.Code, info.Signal, info.Error, info.OOMKilled = exit.Code, exit.Signal, exit.Error, exit.OOM
	}
	return sglang.Refine(s.log.Cause(), info), s.log.Excerpt(excerptLines), err
}

// excerptLines is how much of a log stands in an error and in a record.
const excerptLines = 40

// flagValue finds the value of a flag in a command; the last one counts, as
// argparse has it.
func flagValue(argv []string, names ...string) string {
	value := ""
	for i, word := range argv {
		for _, name := range names {
			if word == name && i+1 < len(argv) {
				value = argv[i+1]
			} else if v, ok := strings.CutPrefix(word, name+"="); ok {
				value = v
			}
		}
	}
	return value
}

// describe names the server in errors.
func (s *Server) describe() string { return fmt.Sprintf("server on port %d", s.spec.Port) }

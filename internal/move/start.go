package move

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"time"

	"sweep/internal/remote"
	"sweep/internal/supervise"
	"sweep/internal/sweep"
)

// stopGrace is what a moved sweep gets between TERM and KILL: its teardown has
// three minutes, bringing a log home in it may take longer.
const stopGrace = 6 * time.Minute

// Request is a night to be moved.
type Request struct {
	Plan    *sweep.Plan
	Secrets []string // NAME=value; they go to the host on stdin and are kept nowhere
	Options Options  // how the host was reached, to be remembered
	Home    string   // data directory that the records are brought to
}

// Start pushes the plan and starts the night. When it fails nothing of it is
// left, neither there nor in the registry.
func (p *Place) Start(ctx context.Context, reg Registry, r Request) (e *Entry, err error) {
	text, err := json.Marshal(r.Plan)
	if err != nil {
		return nil, fmt.Errorf("encode the plan: %w", err)
	}
	key := NewKey(r.Plan.Name, time.Now())
	t := r.Options.Target
	e = &Entry{Key: key, Name: r.Plan.Name, File: r.Plan.File, Started: time.Now().UTC(), Runs: len(r.Plan.Runs), PlanHash: r.Plan.Hash, Secrets: r.Plan.Secrets,
		Alias: t.Alias, Address: t.Address, User: t.User, Sudo: t.Sudo, SSHConfig: r.Options.Config,
		Dir: path.Join(p.state, movedName, key), Data: p.data, Binary: p.binary, Held: 1, Boot: p.platform.BootID, Home: r.Home}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Undo(context.WithoutCancel(ctx), reg, e))
		}
	}()
	sum := sha256.Sum256(text)
	pushing, cancel := context.WithTimeout(ctx, pushTime)
	defer cancel()
	if _, err := p.host.Push(pushing, bytes.NewReader(text), int64(len(text)), hex.EncodeToString(sum[:]), path.Join(e.Dir, "plan.json"), 0o600); err != nil {
		return e, fmt.Errorf("put the plan on %s: %w", p.Name(), err)
	}
	// Before anything runs: whatever happens from here on, it can be found.
	if err := reg.Save(e); err != nil {
		return e, err
	}
	return e, p.hold(ctx, e, r.Secrets)
}

// Again starts a night that was cut off: its host was booted anew, or its
// runner was killed. What was measured is there and is not measured again.
func (p *Place) Again(ctx context.Context, reg Registry, e *Entry, secrets []string) error {
	next := *e
	next.Held, next.Boot, next.Binary, next.Ended, next.Code = e.Held+1, p.platform.BootID, p.binary, false, nil
	if err := reg.Save(&next); err != nil {
		return err
	}
	*e = next
	return p.hold(ctx, e, secrets)
}

// Undo takes back a start: nothing of it is left afterwards.
func (p *Place) Undo(ctx context.Context, reg Registry, e *Entry) error {
	ctx, cancel := context.WithTimeout(ctx, stopGrace+2*time.Minute)
	defer cancel()
	if _, err := reg.read(e.Key); err == nil { // a start may be on its way
		stop := p.command([]string{"supervise", "stop", e.held()}, nil, nil, nil)
		if _, err := p.host.Output(ctx, stop, 64<<10); err != nil {
			return fmt.Errorf("end what was started: %w; `sweep attach %s` shows what became of it", err, e.Key)
		}
		if err := reg.Forget(e); err != nil {
			return err
		}
	}
	return p.remove(ctx, e.Dir)
}

// held is the directory of the last start.
func (e *Entry) held() string { return path.Join(e.Dir, "held-"+strconv.Itoa(e.Held)) }

// Output is the file over there in which the last start says everything.
func (e *Entry) Output() string { return path.Join(e.held(), supervise.OutputFile) }

// hold starts the night, held. It is idempotent, so that a start whose answer
// was lost is looked at by starting it again.
func (p *Place) hold(ctx context.Context, e *Entry, secrets []string) error {
	spec := supervise.Spec{ID: e.Key + "-" + strconv.Itoa(e.Held), Env: p.env, Grace: stopGrace, Alone: true,
		Argv: []string{p.binary, "run", "--here", "--json", "--data", e.Data, "--plan", path.Join(e.Dir, "plan.json")}}
	request, err := json.Marshal(supervise.StartRequest{Spec: spec, Secrets: secrets})
	if err != nil {
		return fmt.Errorf("encode the start: %w", err)
	}
	for try := 1; ; try++ {
		text, err := p.output(ctx, bytes.NewReader(request), "supervise", "start", e.held())
		if errors.Is(err, remote.ErrLost) && try < 4 {
			continue
		}
		if err != nil {
			return fmt.Errorf("start the night: %w", err)
		}
		s, err := readState(text)
		if err != nil {
			return fmt.Errorf("%s: start the night: %w", p.Name(), err)
		}
		if s.Exit != nil && s.Exit.Error != "" {
			return fmt.Errorf("%s: start the night: it %s", p.Name(), s.Exit)
		}
		return nil
	}
}

// Plan reads the frozen plan of a moved night over there.
func (p *Place) Plan(ctx context.Context, e *Entry) (*sweep.Plan, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	file := path.Join(e.Dir, "plan.json")
	text, err := p.host.Output(ctx, remote.Cmd{Argv: []string{"cat", "--", file}, Sudo: p.host.Settings().Sudo}, sweep.MaxPlan)
	if err != nil {
		return nil, fmt.Errorf("read the plan on %s: %w", p.Name(), err)
	}
	return sweep.ThawPlan(p.Name()+":"+file, text)
}

// State is where the last start stands.
func (p *Place) State(ctx context.Context, e *Entry) (supervise.State, error) {
	text, err := p.output(ctx, nil, "supervise", "state", e.held())
	if err != nil {
		return supervise.State{}, err
	}
	return readState(text)
}

func readState(text []byte) (supervise.State, error) {
	var s supervise.State
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("`sweep supervise` answered %.100q", text)
	}
	return s, nil
}

// Over tells whether a start has come to its end, known or not.
func Over(s supervise.State) bool {
	return s.Phase == supervise.Exited || s.Phase == supervise.Lost || s.Phase == supervise.Absent || s.Phase == supervise.Orphaned && s.Alive == 0
}

// CutOff says why a night that is over did not come to an end of its own; ""
// when it did.
func (p *Place) CutOff(e *Entry, s supervise.State) string {
	switch {
	case s.Phase == supervise.Exited && s.Exit != nil && s.Exit.Code != nil:
		return ""
	case s.Phase == supervise.Exited && s.Exit != nil:
		return "its runner was " + s.Exit.String()
	case s.Phase == supervise.Absent:
		return "nothing of its last start is there"
	case s.Boot != "" && p.platform.BootID != "" && s.Boot != p.platform.BootID:
		return "the host was booted anew since"
	}
	return "its runner and its supervisor were killed"
}

// Tidy removes what a night that is over left of the move over there; its
// records stay.
func (p *Place) Tidy(ctx context.Context, e *Entry) error { return p.remove(ctx, e.Dir) }

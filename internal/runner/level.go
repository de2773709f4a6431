package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"time"

	"sweep/internal/bench"
	"sweep/internal/launch"
	"sweep/internal/sglang"
	"sweep/internal/store"
	"sweep/internal/supervise"
	"sweep/internal/sweep"
	"sweep/internal/verdict"
)

// levels measures what is missing, in the plan's order.
func (a *attempt) levels(ctx context.Context) (*sweep.Failure, error) {
	for _, level := range a.plan.Levels {
		if stopping(ctx) {
			return nil, nil
		}
		key := level.Key()
		if !slices.Contains(a.decision.missing, key) {
			e := a.levelEvent(store.LevelReused, level)
			e.Text = "measured before in this run"
			a.outcome.Reused++
			if err := a.say(e); err != nil {
				return nil, err
			}
			continue
		}
		failure, err := a.level(ctx, level)
		if err != nil || failure != nil {
			return failure, err
		}
	}
	return nil, nil
}

func (a *attempt) levelEvent(t store.EventType, level bench.Level) store.Event {
	e := a.event(t)
	e.Key, e.Level = level.Key(), level.String()
	return e
}

// level measures one level by a bench that is held beside the server, so that
// its CPU and garbage are its own and it outlives us.
func (a *attempt) level(ctx context.Context, level bench.Level) (*sweep.Failure, error) {
	if err := a.say(a.levelEvent(store.LevelStart, level)); err != nil {
		return nil, err
	}
	held, out, err := a.holdBench(ctx, level)
	if err != nil {
		return a.hostFailure(ctx, "bench", err)
	}
	exit, err := a.follow(ctx, level, held)
	if err != nil {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		_, stopErr := held.Stop(stop, 2*time.Second)
		if stopping(ctx) {
			return nil, stopErr
		}
		return a.hostFailure(ctx, "bench", errors.Join(err, stopErr))
	}
	if err := a.bringLog(ctx); err != nil {
		return a.hostFailure(ctx, "log", err)
	}
	m, err := a.collect(ctx, level, held, out)
	if err != nil {
		return a.levelFailed(ctx, level, fmt.Sprintf("bench ended with %s: %v", exit, err))
	}
	a.decision.missing = slices.DeleteFunc(a.decision.missing, func(k string) bool { return k == level.Key() && m.Usable() })
	a.outcome.Measured++
	e := a.levelEvent(store.LevelEnd, level)
	e.Figures = a.figures(m)
	if err := a.say(e); err != nil {
		return nil, err
	}
	if !m.Usable() {
		return a.levelFailed(ctx, level, "the level ended early: "+string(m.Ended))
	}
	return nil, nil
}

// holdBench starts (or finds again) the bench of one level.
func (a *attempt) holdBench(ctx context.Context, level bench.Level) (held *launch.Held, out string, err error) {
	id := fmt.Sprintf("bench-%d-%s", a.record.Attempt, level.Key())
	job := bench.Job{Schema: sweep.Schema, URL: fmt.Sprintf("http://127.0.0.1:%d", a.record.Port), Level: level,
		Vocab: a.vocab(), MaxLevel: a.plan.MaxLevel, SLO: a.plan.SLO}
	text, err := json.Marshal(job)
	if err != nil {
		return nil, "", fmt.Errorf("encode the job of %s: %w", level, err)
	}
	jobPath := path.Join(a.instance.Dir, "jobs", id+".json")
	out = path.Join(a.instance.Dir, "out", id)
	if err := a.Runtime.Files(a.instance).Put(ctx, jobPath, bytes.NewReader(text), 0o600); err != nil {
		return nil, "", fmt.Errorf("write the job of %s: %w", level, err)
	}
	held, err = launch.Hold(ctx, a.Runtime, a.instance, supervise.Spec{ID: id, Grace: 2 * time.Second,
		Argv: []string{a.instance.Bin, "bench", "--job", jobPath, "--out", out}, Nofile: 1 << 20})
	return held, out, err
}

// vocab is the bound of random token ids. A server that does not tell gets ids
// that every tokenizer of this field has.
func (a *attempt) vocab() int {
	if r := a.record.Fingerprint.Server; r != nil && r.VocabSize != nil {
		return *r.VocabSize
	}
	return 32000
}

// follow waits until the bench ends, passing its progress on, and ends with an
// error when ctx does or when the bench is lost.
func (a *attempt) follow(ctx context.Context, level bench.Level, held *launch.Held) (string, error) {
	var offset int64
	var rest []byte
	var last, looked time.Time
	for {
		exit, err := held.Exit(ctx)
		if err != nil {
			return "", err
		}
		chunk, err := held.Tail(ctx, offset)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		offset += int64(len(chunk))
		rest = append(rest, chunk...)
		for {
			line, tail, ok := bytes.Cut(rest, []byte("\n"))
			if !ok {
				break
			}
			rest = tail
			var p bench.Progress
			if json.Unmarshal(line, &p) != nil || p.Total == 0 || time.Since(last) < 2*time.Second {
				continue
			}
			last = time.Now()
			e := a.levelEvent(store.LevelProgress, level)
			e.Done, e.Total = p.Done, p.Total
			if err := a.say(e); err != nil {
				return "", err
			}
		}
		if exit != nil {
			return exit.String(), nil
		}
		if time.Since(looked) > 2*time.Second {
			looked = time.Now()
			state, err := held.State(ctx)
			if err != nil {
				return "", err
			}
			if state.Phase != supervise.Running && state.Phase != supervise.Exited {
				return "", fmt.Errorf("the bench of %s is %s", level, state.Phase)
			}
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// collect brings a finished bench's files home, the measurement last.
func (a *attempt) collect(ctx context.Context, level bench.Level, held *launch.Held, out string) (bench.Measurement, error) {
	files := a.Runtime.Files(a.instance)
	home := a.Store.LevelDir(a.decision.ref, a.record.Attempt, level.Key())
	for name, from := range map[string]string{"requests.jsonl": path.Join(out, "requests.jsonl"), "bench.log": held.LogPath()} {
		if err := bringFile(ctx, files, from, filepath.Join(home, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return bench.Measurement{}, err
		}
	}
	text, err := files.ReadAt(ctx, path.Join(out, "measurement.json"), 0, 16<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return bench.Measurement{}, fmt.Errorf("no measurement; %s", lastLine(ctx, held))
	}
	if err != nil {
		return bench.Measurement{}, fmt.Errorf("read the measurement of %s: %w", level, err)
	}
	var m bench.Measurement
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("the measurement of %s is not readable: %w", level, err)
	}
	m.Attempt = a.record.Attempt
	return m, a.Store.WriteMeasurement(a.decision.ref, a.record.Attempt, m)
}

// lastLine is the end of what a held process wrote, for a message.
func lastLine(ctx context.Context, held *launch.Held) string {
	var text []byte
	for offset := int64(0); ; {
		chunk, err := held.Tail(ctx, offset)
		if err != nil {
			return "no output: " + err.Error()
		}
		if len(chunk) == 0 {
			break
		}
		offset += int64(len(chunk))
		text = chunk
	}
	text = bytes.TrimSpace(text)
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	return "it said: " + sglang.Plain(string(text))
}

// levelFailed looks whose fault it was: a server that died or hangs fails the
// attempt; a bench that could not work leaves the level unmeasured.
func (a *attempt) levelFailed(ctx context.Context, level bench.Level, why string) (*sweep.Failure, error) {
	if stopping(ctx) {
		return nil, nil
	}
	e := a.levelEvent(store.LevelFailed, level)
	e.Text = why
	if err := a.say(e); err != nil {
		return nil, err
	}
	alive, exit, err := a.serverEnded(ctx)
	if err != nil {
		return a.hostFailure(ctx, "server", err)
	}
	cause, excerpt, err := a.server.Diagnose(ctx, exit)
	if err != nil {
		return a.hostFailure(ctx, "server", err)
	}
	f := &sweep.Failure{Level: level.Key(), Cause: cause, Excerpt: excerpt}
	if alive && a.server.Log().Cause() == nil {
		f.Cause = sglang.Cause{Code: "level-failed", Class: sglang.Serving, Phase: sglang.PhaseServing, Line: why,
			Hint: "see server.log and bench.log of this attempt"}
	}
	if exit != nil {
		f.Exit = exit.String()
	}
	return f, nil
}

// deathTime is how long a server that let its streams go may take to be gone:
// it logs its last words first.
const deathTime = 3 * time.Second

// serverEnded looks whether the server lives, and gives a dying one the time
// to die.
func (a *attempt) serverEnded(ctx context.Context) (alive bool, exit *supervise.Exit, err error) {
	for deadline := time.Now().Add(deathTime); ; time.Sleep(100 * time.Millisecond) {
		alive, exit, err = a.server.Alive(ctx)
		if !alive || err != nil || stopping(ctx) || time.Now().After(deadline) {
			return alive, exit, err
		}
	}
}

// figures are the headline numbers of a measurement, judged.
func (a *attempt) figures(m bench.Measurement) *store.Figures {
	run := sweep.Run{ID: a.config.ID, Name: a.record.Run, Records: []sweep.Record{a.record}, Measurements: []bench.Measurement{m}}
	findings := verdict.Judge([]sweep.Run{run}, verdict.Limits{})
	f := &store.Figures{OutputThroughput: m.OutputThroughput, TTFTp50: m.TTFT.P50, TPOTp50: m.TPOT.P50,
		Completed: m.Completed, Failed: m.Failed, Verdict: string(verdict.Of(findings, a.record.Run, m.Key))}
	if r := a.record.Fingerprint.Server; r != nil {
		f.Simulated = r.Simulated
	}
	for _, x := range findings {
		if x.Grade != verdict.Note {
			f.Findings = append(f.Findings, x.Code+": "+x.Seen)
		}
	}
	return f
}

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
)

// findBench finds the bench of one level that an earlier runner started: one
// that runs, or one that left a measurement worth having. Otherwise held is nil
// and id is free for a new one: a bench that was stopped half-way is left
// behind.
func (a *attempt) findBench(ctx context.Context, level bench.Level) (held *launch.Held, id, out string, running bool, err error) {
	for try := 1; ; try++ {
		id = fmt.Sprintf("bench-%d-%d-%s", a.record.Attempt, try, level.Key())
		out = path.Join(a.instance.Dir, "out", id)
		held, state, err := launch.Lookup(ctx, a.Runtime, a.instance, id)
		if err != nil {
			return nil, id, out, false, fmt.Errorf("look for the bench of %s: %w", level, err)
		}
		switch {
		case state.Phase == supervise.Running && !state.Stopping:
			return held, id, out, true, nil
		case a.keeps(ctx, out):
			return held, id, out, false, nil
		case state.Phase == supervise.Absent:
			return nil, id, out, false, nil
		}
	}
}

// finishBench lets the bench that runs on a server which was taken up again
// come to its end, before anything else is asked of that server.
func (a *attempt) finishBench(ctx context.Context) (*sweep.Failure, error) {
	for _, level := range a.plan.LevelsOf(a.planned) {
		if !slices.Contains(a.decision.missing, level.Key()) {
			continue
		}
		_, _, _, running, err := a.findBench(ctx, level)
		if err != nil {
			return a.hostFailure(ctx, "bench", err)
		}
		if running {
			return a.level(ctx, level)
		}
	}
	return nil, nil
}

// holdBench starts the bench of one level, or finds the one that an earlier
// runner started.
func (a *attempt) holdBench(ctx context.Context, level bench.Level) (held *launch.Held, out string, err error) {
	held, id, out, _, err := a.findBench(ctx, level)
	if held != nil || err != nil {
		return held, out, err
	}
	job := bench.Job{Schema: sweep.Schema, URL: fmt.Sprintf("http://127.0.0.1:%d", a.record.Port), Level: level,
		Vocab: a.vocab(), MaxLevel: a.plan.MaxLevel, SLO: a.plan.SLO}
	if r := a.record.Fingerprint.Server; r != nil {
		job.Simulated, job.NoPrefixCache = r.Simulated, r.NoPrefixCache()
	}
	text, err := json.Marshal(job)
	if err != nil {
		return nil, "", fmt.Errorf("encode the job of %s: %w", level, err)
	}
	jobPath := path.Join(a.instance.Dir, "jobs", id+".json")
	if err = a.Runtime.Files(a.instance).Put(ctx, jobPath, bytes.NewReader(text), 0o600); err != nil {
		return nil, "", fmt.Errorf("write the job of %s: %w", level, err)
	}
	held, err = launch.Hold(ctx, a.Runtime, a.instance, supervise.Spec{ID: id, Grace: 2 * time.Second,
		Argv: []string{a.instance.Bin, "bench", "--job", jobPath, "--out", out}, Nofile: 1 << 20})
	return held, out, err
}

// keeps tells whether a bench left a measurement worth having: one that nobody
// stopped half-way.
func (a *attempt) keeps(ctx context.Context, out string) bool {
	m, err := a.readMeasurement(ctx, out)
	return err == nil && m.Ended != bench.Interrupted
}

// readMeasurement reads what a bench wrote last.
func (a *attempt) readMeasurement(ctx context.Context, out string) (m bench.Measurement, err error) {
	text, err := a.Runtime.Files(a.instance).ReadAt(ctx, path.Join(out, "measurement.json"), 0, maxMeasurement)
	if errors.Is(err, fs.ErrNotExist) {
		return m, errors.New("no measurement")
	}
	if err != nil {
		return m, fmt.Errorf("read the measurement: %w", err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("the measurement is not readable: %w", err)
	}
	return m, nil
}

// maxMeasurement bounds measurement.json, in bytes.
const maxMeasurement = 16 << 20

// smallestVocab is below every real vocabulary: a server that says less is not
// believed.
const smallestVocab = 1000

// vocab is the bound of random token ids. A server that does not tell gets ids
// that every tokenizer of this field has.
func (a *attempt) vocab() int {
	if r := a.record.Fingerprint.Server; r != nil && r.VocabSize != nil && *r.VocabSize >= smallestVocab {
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
			if err := a.server.ReadLog(ctx); err != nil { // as it grows: its lines are timed by our clock
				return "", err
			}
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

// noMeasurement is the error of a bench that ended without a measurement: the
// bench's failure, not that of bringing it home.
type noMeasurement struct{ error }

func (e *noMeasurement) Unwrap() error { return e.error }

// collect brings a finished bench's files home, the measurement last.
func (a *attempt) collect(ctx context.Context, level bench.Level, held *launch.Held, out string) (bench.Measurement, error) {
	if err := errors.Join(a.bringLog(ctx), a.server.ReadLog(ctx)); err != nil {
		return bench.Measurement{}, err
	}
	a.record.Compiles = a.server.Log().Compiles()
	files := a.Runtime.Files(a.instance)
	home := a.Store.LevelDir(a.decision.ref, a.record.Attempt, level.Key())
	for name, from := range map[string]string{"requests.jsonl": path.Join(out, "requests.jsonl"), "bench.log": held.LogPath()} {
		if err := bringFile(ctx, files, from, filepath.Join(home, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return bench.Measurement{}, err
		}
	}
	m, err := a.readMeasurement(ctx, out)
	if err != nil {
		return m, &noMeasurement{fmt.Errorf("%w; %s", err, lastLine(ctx, held))}
	}
	if m.Usable() && m.Failed > 0 && a.server != nil {
		// Connections that broke may be a server that broke, whatever the bench
		// could still send to what was left of it.
		if alive, _, err := a.serverEnded(ctx); err == nil && !alive {
			m.Ended = bench.ServerGone
		}
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
	return "it said: " + sglang.Plain(benchSaid(text))
}

// benchSaid is a line of a bench for a person: its errors are JSON with the
// text in one key.
func benchSaid(line []byte) string {
	var said struct {
		Type  string `json:"type"`
		Error string `json:"error"`
	}
	if json.Unmarshal(line, &said) == nil && said.Type == "error" && said.Error != "" {
		return said.Error
	}
	return string(line)
}

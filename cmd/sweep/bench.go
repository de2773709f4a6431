package main

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"sweep/internal/bench"
	"sweep/internal/sglang"
	"sweep/internal/sweep"
)

func benchCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "bench", Usage: "measure any running sglang server", ArgsUsage: "URL",
		Description: "Requests are random token ids with the lengths of sglang.bench_serving for the same seed.\n\n" +
			"  sweep bench http://127.0.0.1:30000 --concurrency 64\n" +
			"  sweep bench http://127.0.0.1:30000 --burst 256 --input-len 256 --output-len 128 --range-ratio 0",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "concurrency", Usage: "closed loop with this many slots", DefaultText: "1"},
			&cli.IntFlag{Name: "burst", Usage: "this many requests at once, instead of a closed loop"},
			&cli.Float64Flag{Name: "rate", Usage: "open loop: this many requests a second, instead of a closed loop; needs --prompts"},
			&cli.StringFlag{Name: "arrival", Value: "poisson", Usage: "gaps of an open loop: poisson or constant"},
			&cli.IntFlag{Name: "prompts", Usage: "requests to send", DefaultText: "5 x concurrency"},
			&cli.IntFlag{Name: "input-len", Value: 128, Usage: "tokens of each prompt, at most"},
			&cli.IntFlag{Name: "output-len", Value: 128, Usage: "tokens of each answer, at most"},
			&cli.Float64Flag{Name: "range-ratio", Value: 1, Usage: "1: exactly these lengths; 0: uniform from 1"},
			&cli.UintFlag{Name: "seed", Value: 1},
			&cli.DurationFlag{Name: "max-level", Usage: "stop issuing after this long"},
			&cli.DurationFlag{Name: "ttft", Usage: "SLO on the time to first token, for goodput"},
			&cli.DurationFlag{Name: "tpot", Usage: "SLO on the time per output token, for goodput"},
			&cli.BoolFlag{Name: "json", Usage: "the measurement as JSON"},
			&cli.StringFlag{Name: "out", Usage: "keep requests.jsonl and measurement.json in this directory"},
			&cli.StringFlag{Name: "sockets", Hidden: true, Usage: "epoll or portable: how connections are driven"},
			&cli.StringFlag{Name: "job", Hidden: true, Usage: "a job file, as sweep run hands it over"},
		},
		Action: func(c *cli.Context) error {
			// Samples are kept to the end, so that little is garbage: memory beside
			// the server is worth more than the collector's time.
			debug.SetGCPercent(25)
			if c.IsSet("job") {
				if code := bench.RunJob(c.Context, c.String("job"), c.String("out"), s.out); code != 0 {
					return silent(code)
				}
				return nil
			}
			return benchByHand(c, s)
		},
	}
}

// benchByHand measures one level of a server somebody else started.
func benchByHand(c *cli.Context, s streams) error {
	if c.NArg() != 1 {
		return usage("bench takes one URL, got %d arguments; see `sweep bench --help`", c.NArg())
	}
	target, err := url.Parse(c.Args().First())
	if err != nil || target.Scheme != "http" && target.Scheme != "https" || target.Host == "" || strings.Trim(target.Path, "/") != "" || target.RawQuery != "" || target.User != nil {
		return usage("%q is not a URL like http://127.0.0.1:30000 (no path, query or password)", c.Args().First())
	}
	level, err := levelOf(c)
	if err != nil {
		return err
	}
	ask, cancel := context.WithTimeout(c.Context, 30*time.Second)
	defer cancel()
	info, err := sglang.NewClient(target.Scheme + "://" + target.Host).ServerInfo(ask)
	if err != nil {
		return fmt.Errorf("ask %s what it is: %w; is an sglang server up there?", target.Host, err)
	}
	job := bench.Job{Schema: sweep.Schema, URL: target.Scheme + "://" + target.Host, Level: level, Simulated: info.Simulated, MaxLevel: c.Duration("max-level"),
		NoPrefixCache: info.NoPrefixCache(), Sockets: bench.Sockets(c.String("sockets")), SLO: bench.SLO{TTFT: c.Duration("ttft"), TPOT: c.Duration("tpot")}}
	if info.VocabSize != nil {
		job.Vocab = *info.VocabSize
	}
	last := time.Now()
	show := func(p bench.Progress) {
		if time.Since(last) > time.Second && p.Total > 0 {
			last = time.Now()
			fmt.Fprintf(s.err, "%s: %d of %d requests\n", level, p.Done, p.Total)
		}
	}
	var m bench.Measurement
	if out := c.String("out"); out != "" {
		m, err = bench.RunInto(c.Context, job, out, show)
	} else {
		m, err = bench.Run(c.Context, job, nil, show)
	}
	if err != nil {
		return err
	}
	if c.Bool("json") {
		err = writeJSON(s.out, m)
	} else {
		err = bench.Table(s.out, m)
	}
	switch {
	case err != nil:
		return err
	case m.Ended == bench.Interrupted:
		return silent(exitInterrupted)
	case !m.Usable() || m.Failed > 0:
		return silent(exitFailed)
	}
	return nil
}

// levelOf reads the level a person asked for.
func levelOf(c *cli.Context) (bench.Level, error) {
	level := bench.Level{Mode: bench.Closed, Concurrency: 1, Workload: bench.Workload{Name: "random-ids",
		InputLen: c.Int("input-len"), OutputLen: c.Int("output-len"), RangeRatio: c.Float64("range-ratio"), Seed: uint32(c.Uint("seed"))}}
	if c.IsSet("burst") && c.IsSet("concurrency") {
		return level, usage("--burst and --concurrency exclude each other")
	}
	if c.IsSet("concurrency") {
		level.Concurrency = c.Int("concurrency")
	}
	level.Prompts = 5 * level.Concurrency
	if c.IsSet("burst") {
		level.Mode, level.Concurrency, level.Prompts = bench.Burst, c.Int("burst"), c.Int("burst")
	}
	if c.IsSet("rate") {
		if err := openLevel(c, &level); err != nil {
			return level, err
		}
	} else if c.IsSet("arrival") {
		return level, usage("--arrival is about the gaps of --rate, which is not given")
	}
	if c.IsSet("prompts") {
		level.Prompts = c.Int("prompts")
	}
	w := level.Workload
	const longest = 10_000_000 // tokens, as in a sweep file
	switch {
	case c.Uint("seed") > math.MaxUint32:
		return level, usage("--seed %d is above %d", c.Uint("seed"), uint32(math.MaxUint32))
	case c.Duration("max-level") < 0:
		return level, usage("--max-level %s is negative", c.Duration("max-level"))
	case w.InputLen > longest || w.OutputLen > longest:
		return level, usage("lengths are at most %d tokens", longest)
	}
	if level.Mode == bench.Closed && level.Prompts < level.Concurrency {
		return level, usage("%d prompts never fill %d slots: give at least %d", level.Prompts, level.Concurrency, level.Concurrency)
	}
	if level.Mode != bench.Open && level.Concurrency < 1 || level.Prompts < 1 || w.InputLen < 1 || w.OutputLen < 1 || !(w.RangeRatio >= 0 && w.RangeRatio <= 1) {
		return level, usage("concurrency, prompts and lengths are at least 1, the range ratio between 0 and 1")
	}
	return level, nil
}

// openLevel makes an open loop of the level.
func openLevel(c *cli.Context, level *bench.Level) error {
	arrival := map[string]bench.Arrival{"poisson": bench.Poisson, "constant": bench.Constant}
	level.Mode, level.Concurrency, level.Prompts, level.Rate = bench.Open, 0, 0, c.Float64("rate")
	var known bool
	level.Arrival, known = arrival[c.String("arrival")]
	switch {
	case c.IsSet("concurrency") || c.IsSet("burst"):
		return usage("--rate excludes --concurrency and --burst")
	case !known:
		return usage("--arrival %q is not known: poisson or constant", c.String("arrival"))
	case !(level.Rate > 0 && level.Rate <= 100_000):
		return usage("--rate is a number of requests a second above 0, at most 100,000")
	case !c.IsSet("prompts"):
		return usage("--rate needs --prompts: it has no end of its own")
	}
	return nil
}

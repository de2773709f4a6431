package sim

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"sweep/internal/sglang"
)

// fit says whether a server can act its faults out: a phase that it does not go
// through cannot fail.
func (f *faults) fit(t Timing) error {
	passes := func(p sglang.PhaseName) bool {
		for _, s := range t.Startup() {
			if s.Name == p {
				return true
			}
		}
		return p == sglang.PhaseServing
	}
	if f.exit != nil && !passes(f.exit.phase) {
		return fmt.Errorf("exit: this server does not go through the phase %s", f.exit.phase)
	}
	if f.hang != "" && !passes(f.hang) {
		return fmt.Errorf("hang: this server does not go through the phase %s", f.hang)
	}
	if f.hang == sglang.PhaseServing && f.stallAfter == 0 {
		f.stallAfter = 1
	}
	if n := t.setup.TP * t.setup.PP * t.setup.DP; f.exit != nil && f.exit.rank >= n {
		return fmt.Errorf("exit: there is no rank %d, this server has %d", f.exit.rank, n)
	}
	return nil
}

// troubled acts out what is to happen under load, before a step; true when the
// engine is over.
func (e *engine) troubled(ctx context.Context) bool {
	if f := e.faults.exit; f != nil && f.phase == sglang.PhaseServing && e.started >= e.faults.exitAfter {
		e.fail(f)
		return true
	}
	if e.faults.stallAfter == 0 || e.started < e.faults.stallAfter {
		return false
	}
	e.stalled.Store(true)
	if e.faults.stallWatchdog {
		limit := time.Duration(e.timing.setup.Watchdog * float64(time.Second) / e.scale)
		if sleepUntil(ctx, time.Now().Add(limit)) != nil {
			return true
		}
		if c, err := findCause("watchdog"); err == nil {
			e.fail(&failure{cause: c, phase: sglang.PhaseServing})
		}
		return true
	}
	<-ctx.Done()
	return true
}

// slower is by how much a step is longer than the model says.
func (e *engine) slower(now time.Time) float64 {
	by := 1 + e.faults.drift/100*now.Sub(e.since).Minutes()*e.scale
	if e.started < e.faults.slowFirst {
		if e.started%10 == 0 {
			e.log.line("Entering DeepGEMM JIT Single Kernel session. And it will take a few seconds.")
		}
		by *= 2
	}
	return by
}

// flood writes log lines until ctx ends.
func (s *server) flood(ctx context.Context, lines int) {
	const perSecond = 20
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for range (lines + perSecond - 1) / perSecond {
			s.log.ranked(s.ranks[0], "Using default MoE kernel config. Performance might be sub-optimal! Config file not found at %s",
				"/sgl-workspace/sglang/python/sglang/srt/layers/moe/fused_moe_triton/configs/triton_3_5_1/E=257,N=256,device_name=NVIDIA_RTX_PRO_6000.json")
		}
	}
}

// orphanLife bounds how long an orphan lives when nobody ends it.
const orphanLife = "600"

// orphan leaves a child behind that holds a listening socket: it is forked
// twice, so its parent is process 1, but it stays in the server's process group
// and session. The child is a sleep, and the port answers nobody.
func (s *server) orphan(ctx context.Context, l net.Listener) error {
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return fmt.Errorf("leave an orphan: %T has no file", l)
	}
	file, err := tcp.File()
	if err != nil {
		return fmt.Errorf("leave an orphan: %w", err)
	}
	defer file.Close()
	shell := exec.CommandContext(ctx, "/bin/sh", "-c", "sleep "+orphanLife+" </dev/null >/dev/null 2>&1 & echo $!")
	shell.ExtraFiles = []*os.File{file}
	out, err := shell.Output()
	if err != nil {
		return fmt.Errorf("leave an orphan: %w", err)
	}
	s.log.line("sweep sim: fault orphan: process %s keeps %s for %s s", strings.TrimSpace(string(out)), l.Addr(), orphanLife)
	return nil
}

package runner

import (
	"context"
	"fmt"
	"time"

	"sweep/internal/gpu"
	"sweep/internal/sweep"
)

// teardown stops the server, brings its log home, removes the instance, and
// proves that nothing is left. It runs to its end also when a person asked to
// stop. The error, if any, is that the host is dirty.
func (a *attempt) teardown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), teardownTime)
	defer cancel()
	began := time.Now()
	t := &sweep.Teardown{Clean: true}
	a.record.Teardown = t
	if a.server != nil {
		report, err := a.server.Stop(ctx)
		t.Killed = report.Killed
		t.Left = append(t.Left, report.Left...)
		if err != nil {
			t.Left = append(t.Left, err.Error())
		}
		if err := a.bringLog(ctx); err != nil {
			t.Left = append(t.Left, err.Error())
		}
	}
	if a.instance.Name != "" {
		if err := a.Runtime.Destroy(ctx, a.instance); err != nil {
			t.Left = append(t.Left, fmt.Sprintf("remove instance %s: %v", a.instance.Name, err))
		}
	}
	t.GPU = "not looked at: simulated server"
	if !a.simulated() {
		busy, note := gpu.WaitFree(ctx, a.Command, time.Second)
		t.Left = append(t.Left, busy...)
		if t.GPU = note; note == "" {
			t.GPU = "clean"
		}
	}
	t.Clean, t.Seconds = len(t.Left) == 0, time.Since(began).Seconds()
	if !t.Clean {
		return fmt.Errorf("%w: dirty host after run %s: %v", ErrHost, a.record.Run, t.Left)
	}
	return nil
}

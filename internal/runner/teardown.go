package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sweep/internal/launch"
	"sweep/internal/store"
	"sweep/internal/sweep"
)

// teardown stops the server, brings its log home, removes the instance, and
// proves that nothing is left. It runs to its end also when a person asked to
// stop. The error, if any, is that the host is dirty, or that something could
// not be brought home: then the instance stays, for the next sweep to try.
func (a *attempt) teardown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), teardownTime)
	defer cancel()
	began := time.Now()
	t := &sweep.Teardown{Clean: true}
	a.record.Teardown = t
	var trouble error
	if a.server != nil {
		report, err := a.server.Stop(ctx)
		t.Killed = report.Killed
		switch {
		case errors.Is(err, launch.ErrFrozen) && a.config.Container.Fresh():
			t.Killed = true // it goes as a whole, frozen as it is
		case err != nil:
			t.Left = append(t.Left, err.Error())
		default:
			t.Left = append(t.Left, report.Left...)
		}
		a.record.Compiles = a.server.Log().Compiles()
		switch err := a.bringLog(ctx); {
		case errors.Is(err, launch.ErrGone):
			e := a.event(store.Warning)
			e.Text = "the container stopped: the end of the server's log is lost with it"
			trouble = a.say(e)
		case err != nil:
			a.keep, trouble = true, fmt.Errorf("%w: %w", ErrHost, err)
		}
	}
	if a.instance.Name != "" && !a.keep {
		if err := a.Runtime.Destroy(ctx, a.instance); err != nil && !errors.Is(err, launch.ErrForeign) { // a foreign one was refused, not made
			t.Left = append(t.Left, fmt.Sprintf("remove instance %s: %v", a.instance.Name, err))
		}
	}
	var left []string
	t.GPU, left = a.provenFree(ctx)
	t.Left = append(t.Left, left...)
	t.Clean, t.Seconds = len(t.Left) == 0, time.Since(began).Seconds()
	if !t.Clean {
		return errors.Join(trouble, fmt.Errorf("%w: dirty host after run %s: %s", ErrHost, a.record.Run, strings.Join(t.Left, "; ")))
	}
	return trouble
}

package runner

import (
	"context"
	"errors"
	"sync"
	"time"

	"sweep/internal/store"
)

// orderEvery is how often a night looks whether it was asked to stop.
const orderEvery = 300 * time.Millisecond

// errAsked ends a night's context because of an order.
var errAsked = errors.New("asked to stop")

// orders carries out what `sweep stop` asks of a night: it ends the night's
// context, at once or after the level in flight. Safe for concurrent use.
type orders struct {
	end context.CancelCauseFunc

	mu       sync.Mutex
	inFlight bool  // a level is being measured
	waiting  error // why the end comes after it; nil: it does not
	ended    bool
}

// obey ends the night now, or lets the level in flight come to its end first;
// why is the cause of the end. News is false when the order was known.
func (o *orders) obey(order store.StopOrder, why error) (news, inFlight bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if order == store.StopAfterLevel && o.inFlight {
		news = o.waiting == nil
		if news {
			o.waiting = why
		}
		return news, true
	}
	news, o.ended = !o.ended, true
	o.end(why)
	return news, false
}

// finish ends the night now.
func (o *orders) finish(why error) { o.obey(store.StopNow, why) }

// level marks the beginning of a level; the function that it returns, its end.
func (o *orders) level() (done func()) {
	if o == nil {
		return func() {}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.inFlight = true
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.inFlight = false
		if o.waiting != nil {
			o.ended = true
			o.end(o.waiting)
		}
	}
}

// listen looks for orders until ctx ends. An old one, for a runner that has
// ended, is taken away first. The function that it returns ends it.
func (n *nightRun) listen(ctx context.Context) (listening context.Context, stop func(), err error) {
	if err := n.night.ClearOrder(); err != nil {
		return ctx, nil, err
	}
	ctx, end := context.WithCancelCause(ctx)
	n.orders = &orders{end: end}
	done := make(chan struct{})
	over := alarm(ctx, n.deadline)
	go func() {
		defer close(done)
		tick := time.NewTicker(orderEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-over:
				over = nil
				if news, inFlight := n.orders.obey(store.StopAfterLevel, errDeadline); news {
					_ = n.saysDeadline(inFlight) // as below
				}
				continue
			case <-tick.C:
			}
			order, err := n.night.Ordered()
			if err != nil || order == "" {
				continue // what is no order is not carried out
			}
			news, inFlight := n.orders.obey(order, errAsked)
			if !news {
				continue
			}
			text := "`sweep stop` asked for it; the server is being ended"
			if inFlight {
				text = "`sweep stop` asked for it; the level in flight is measured to its end"
			}
			// A journal that takes no more ends the night by itself.
			_ = n.say(store.Event{Type: store.Stopping, Phase: store.StopAsked, Text: text})
		}
	}()
	return ctx, func() {
		end(nil)
		<-done
		_ = n.night.ClearOrder() // best effort: the next start takes it away too
	}, nil
}

package bench

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// feedAll reads a response in the given pieces, one a millisecond, then the end.
func feedAll(asked int, pieces ...string) (trace, bool) {
	x := newExchange(0, 10, asked, nil)
	x.reserve()
	var err error
	for i, p := range pieces {
		if p == "" || err != nil || x.complete() {
			continue
		}
		_, err = x.receive([]byte(p), time.Duration(i+1)*time.Millisecond, unstamped)
	}
	if err == nil && !x.complete() {
		err = x.closed()
	}
	x.finished(time.Second, err)
	return x.trace, x.response.close
}

// timeless is what a trace says but for when.
func timeless(t trace) trace {
	t.end, t.lastByte = 0, 0
	if t.firstText > 0 {
		t.firstText = 1
	}
	var merged []arrival
	for _, a := range t.arrivals {
		merged = append(merged, arrival{tokens: a.tokens})
	}
	t.arrivals = merged
	return t
}

// Any way to cut a response into reads tells the same of the request.
func FuzzExchange(f *testing.F) {
	c := &call{}
	stream := streamHead + chunk(c.token(1, "")+c.token(2, "")) + chunk(": ping\n\n"+c.token(4, "length")) + chunk("data: [DONE]\n\n") + "0\r\n\r\n"
	f.Add(stream, []byte{1, 7, 3, 0, 9, 200}, uint8(4))
	f.Add(strings.ReplaceAll(stream, "\n\n", "\r\n\r\n"), []byte{250, 40, 2}, uint8(4))
	f.Add("HTTP/1.1 200 OK\r\n\r\ndata: {\"error\": {\"message\": \"full\"}}\n\n", []byte{20, 20}, uint8(9))
	f.Add("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusyHTTP", []byte{5, 30}, uint8(1))
	f.Add(streamHead+chunk(c.token(1, ""))[:40], []byte{100}, uint8(3))
	f.Fuzz(func(t *testing.T, wire string, cuts []byte, asked uint8) {
		whole, _ := feedAll(int(asked), wire)
		cut, _ := feedAll(int(asked), split(wire, cuts)...)
		if whole, cut := timeless(whole), timeless(cut); !reflect.DeepEqual(whole, cut) {
			t.Fatalf("whole: %+v\ncut: %+v", whole, cut)
		}
	})
}

// Reading an event costs no memory.
func TestAnEventAllocatesNothing(t *testing.T) {
	const events = 900
	c := &call{}
	x := newExchange(0, 10, events+2, nil)
	x.reserve()
	pieces := make([][]byte, events)
	for i := range pieces {
		pieces[i] = []byte(chunk(strings.Replace(c.token(i+1, ""), strings.Repeat("x", i+1), "word", 1)))
	}
	if _, err := x.receive([]byte(streamHead+chunk(": hello\n\n")), 1, unstamped); err != nil {
		t.Fatal(err)
	}
	next := 0
	if n := testing.AllocsPerRun(events-10, func() {
		if _, err := x.receive(pieces[next], time.Duration(next+1), unstamped); err != nil {
			t.Fatal(err)
		}
		next++
	}); n != 0 {
		t.Errorf("%v allocations an event", n)
	}
	if x.out != next || len(x.arrivals) != next {
		t.Errorf("%d tokens in %d chunks of %d", x.out, len(x.arrivals), next)
	}
}

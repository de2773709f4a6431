package move

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"sweep/internal/store"
)

// Lines come whole however they were cut; what is no event is a message.
func TestLines(t *testing.T) {
	start, end := `{"schema":1,"seq":1,"type":"night.start","night":"n"}`, `{"schema":1,"seq":2,"type":"night.end","text":"x"}`
	text := start + "\nsweep: a warning\n\n" + `{"no":"event"}` + "\n" + `{"seq":` + "\n" + end + "\nlast words without an end"
	for size := 1; size <= len(text); size += 7 {
		var events []store.EventType
		var said, raw []string
		var last int64
		ended := 0
		l := &lines{ending: func() { ended++ }, watch: Watch{
			Line:  func(line []byte) { raw = append(raw, string(line)) },
			Event: func(e store.Event, at int64) { events, last = append(events, e.Type), at },
			Said:  func(text string) { said = append(said, text) },
		}}
		for piece := range slices.Chunk([]byte(text), size) {
			l.take(bytes.Clone(piece))
		}
		l.end()
		if !slices.Equal(events, []store.EventType{store.NightStart, store.NightEnd}) || ended != 1 {
			t.Fatalf("pieces of %d: events %v, ended %d", size, events, ended)
		}
		if want := []string{"sweep: a warning", `{"no":"event"}`, `{"seq":`, "last words without an end"}; !slices.Equal(said, want) {
			t.Fatalf("pieces of %d: said %q", size, said)
		}
		if strings.Join(raw, "\n") != text || int(last) != strings.Index(text, "last words") {
			t.Fatalf("pieces of %d: %d, %q", size, last, raw)
		}
	}
}

func TestLinesAreBounded(t *testing.T) {
	var said []string
	l := &lines{ending: func() {}, watch: Watch{Said: func(text string) { said = append(said, text) }}}
	for range 100 {
		l.take(bytes.Repeat([]byte("x"), maxLine/10))
		if cap(l.rest) > 4*maxLine {
			t.Fatalf("%d bytes are kept", cap(l.rest))
		}
	}
	l.take([]byte("\nshort\n"))
	if len(said) != 2 || !strings.Contains(said[0], "more than") || said[1] != "short" {
		t.Errorf("said %.200q", said)
	}
}

func TestEnvironment(t *testing.T) {
	var p Place
	vars := p.environment([]byte("PATH=/bin\nHOME=/root\nTOKEN=x\nSSH_CONNECTION=1\nXDG_DATA_HOME=/d\nBASH_FUNC_x%%=() {\n}\nPATH=/evil\nLC_ALL=C\nEMPTY\nSWEEP_DATA=\nLANG=\xff\n"))
	if want := []string{"PATH=/bin", "HOME=/root", "XDG_DATA_HOME=/d", "LC_ALL=C"}; !slices.Equal(p.env, want) || vars["PATH"] != "/bin" {
		t.Errorf("%q", p.env)
	}
}

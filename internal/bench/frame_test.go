package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// events reads a whole stream in the given pieces.
func events(pieces ...string) (got []string, err error) {
	var f frames
	emit := func(data []byte) { got = append(got, string(data)) }
	for _, p := range pieces {
		if err := f.feed([]byte(p), emit); err != nil {
			return got, err
		}
	}
	return got, f.end(emit)
}

func TestFrames(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		want   []string
	}{
		"two events in one read": {"data: a\n\ndata: b\n\n", []string{"a", "b"}},
		"CRLF":                   {"data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		"no space":               {"data:a\n\ndata:  b\n\n", []string{"a", " b"}},
		"comments and fields":    {": ping\n\nevent: x\nid: 1\ndata: a\nretry: 3\n\n: end\n\n", []string{"a"}},
		"several data lines":     {"data: a\ndata: b\ndata:\n\n", []string{"a\nb\n"}},
		"empty data":             {"data:\n\ndata\n\n", []string{""}},
		"no empty line at end":   {"data: a\n\ndata: [DONE]\n", []string{"a", "[DONE]"}},
		"no line end at all":     {"data: a", []string{"a"}},
		"nothing":                {"", nil},
		"not a stream":           {`{"error": "x"}`, nil},
	} {
		whole, err := events(c.stream)
		if err != nil || !slices.Equal(whole, c.want) {
			t.Errorf("%s: events %q (%v), want %q", name, whole, err, c.want)
		}
		bytewise, err := events(strings.Split(c.stream, "")...)
		if err != nil || !slices.Equal(bytewise, c.want) {
			t.Errorf("%s: byte by byte %q (%v), want %q", name, bytewise, err, c.want)
		}
		for cut := range len(c.stream) {
			if halves, err := events(c.stream[:cut], c.stream[cut:]); err != nil || !slices.Equal(halves, c.want) {
				t.Errorf("%s: cut at %d %q (%v), want %q", name, cut, halves, err, c.want)
			}
		}
	}
}

// Line readers with a limit of 64 KB end such a stream "successfully".
func TestC17LongFrame(t *testing.T) {
	long := strings.Repeat("x", 70000)
	got, err := events("data: "+long[:30000], long[30000:]+"\n\ndata: b", "\n\n")
	if err != nil || len(got) != 2 || got[0] != long || got[1] != "b" {
		t.Errorf("%d events (%v)", len(got), err)
	}
}

func TestEndlessFrameIsAnError(t *testing.T) {
	var f frames
	piece := []byte(strings.Repeat("x", 1<<20))
	for range maxFrame >> 20 {
		if err := f.feed(piece, func([]byte) {}); err != nil {
			t.Fatalf("refused before the limit: %v", err)
		}
	}
	if err := f.feed(piece, func([]byte) {}); err == nil {
		t.Error("a line beyond the limit is no error")
	}
}

// split cuts text at places that seed decides, into at most len(seed)+1 pieces.
func split(text string, seed []byte) (pieces []string) {
	for _, s := range seed {
		n := min(int(s), len(text))
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return append(pieces, text)
}

// Any way to cut a stream gives the events of the uncut one, and so does any
// way to cut the HTTP response around it.
func FuzzFrames(f *testing.F) {
	f.Add("data: {\"text\": \"a\"}\r\n\r\n: c\ndata: b\ndata: c\n\ndata: [DONE]\n\n", []byte{1, 7, 3, 0, 9, 200})
	f.Add("data:a\n\n\n\ndata", []byte{5, 1, 1, 1})
	f.Fuzz(func(t *testing.T, stream string, seed []byte) {
		want, wantErr := events(stream)
		got, err := events(split(stream, seed)...)
		if !slices.Equal(got, want) || (err == nil) != (wantErr == nil) {
			t.Fatalf("cut: %q (%v), whole: %q (%v)", got, err, want, wantErr)
		}

		wire := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		for _, p := range split(stream, seed) {
			if p != "" {
				wire += fmt.Sprintf("%x\r\n%s\r\n", len(p), p)
			}
		}
		wire += "0\r\n\r\n"
		var frames frames
		var inner []string
		var r response
		for _, p := range split(wire, seed) {
			n, err := r.feed([]byte(p), func(data []byte) error {
				return frames.feed(data, func(d []byte) { inner = append(inner, string(d)) })
			})
			if err != nil || n != len(p) {
				t.Fatalf("response: took %d of %d: %v", n, len(p), err)
			}
		}
		if !r.done() {
			t.Fatal("the response is not complete")
		}
		if err := frames.end(func(d []byte) { inner = append(inner, string(d)) }); err != nil || !slices.Equal(inner, want) {
			t.Fatalf("in chunks: %q (%v), whole: %q", inner, err, want)
		}
	})
}

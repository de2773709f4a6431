package launch

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
)

// A call of `sweep inside` is a stream of frames each way: one byte of kind,
// four of length, the bytes. The caller sends the call, then its input; when
// the stream ends without inputEnd, the caller is gone and what it started is
// ended. What comes back ends with an answer; without one nothing is known.
const (
	frameCall     = 'c'
	frameInput    = 'i'
	frameInputEnd = '.'
	frameStdout   = 'o'
	frameStderr   = 'e'
	frameAnswer   = 'a'
)

// maxFrame bounds one frame, in bytes.
const maxFrame = 1 << 20

// insideCall is what is asked of `sweep inside call`.
type insideCall struct {
	Verb   string            `json:"verb"` // create | destroy | exec | put | read
	Name   string            `json:"name,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Argv   []string          `json:"argv64,omitempty"` // base64 of each: JSON cannot hold every byte
	Env    []string          `json:"env64,omitempty"`
	Dir    string            `json:"dir,omitempty"`
	Path   string            `json:"path,omitempty"`
	Mode   fs.FileMode       `json:"mode,omitempty"`
	Offset int64             `json:"offset,omitempty"`
	Max    int               `json:"max,omitempty"`
	Again  bool              `json:"-"` // may be done twice
}

// insideAnswer is how the call ended.
type insideAnswer struct {
	Code     int       `json:"code"`
	Error    string    `json:"error,omitempty"`
	Kind     string    `json:"kind,omitempty"` // of the error: "missing", "foreign"
	Instance *Instance `json:"instance,omitempty"`

	stdout, stderr []byte
}

// err is the error that the program inside met.
func (a insideAnswer) err() error {
	switch {
	case a.Error == "":
		return nil
	case a.Kind == "missing":
		return &insideError{a.Error, fs.ErrNotExist}
	case a.Kind == "foreign":
		return &insideError{a.Error, ErrForeign}
	}
	return errors.New(a.Error)
}

// insideError is an error that crossed the wall with its kind.
type insideError struct {
	text string
	kind error
}

func (e *insideError) Error() string { return e.text }
func (e *insideError) Unwrap() error { return e.kind }

func writeFrame(w io.Writer, kind byte, data []byte) error {
	head := [5]byte{kind}
	binary.BigEndian.PutUint32(head[1:], uint32(len(data)))
	_, err := w.Write(append(head[:], data...))
	return err
}

// writeFrames writes data as frames of one kind.
func writeFrames(w io.Writer, kind byte, data []byte) error {
	for len(data) > 0 {
		n := min(len(data), maxFrame)
		if err := writeFrame(w, kind, data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

func readFrame(r *bufio.Reader) (kind byte, data []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > maxFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes, more than %d", size, maxFrame)
	}
	data = make([]byte, size)
	_, err = io.ReadFull(r, data)
	return head[0], data, err
}

// sendCall writes a call and its input. The stream stays open after that: its
// end means that nobody waits any more, which is also how an input ends that
// cannot be read to its end. The error is that of the input.
func sendCall(w *io.PipeWriter, call insideCall, stdin io.Reader) error {
	call.Argv, call.Env = encoded(call.Argv), encoded(call.Env)
	text, err := json.Marshal(call)
	if err == nil {
		err = writeFrame(w, frameCall, text)
	}
	buf := make([]byte, 64<<10)
	for stdin != nil && err == nil {
		n, readErr := stdin.Read(buf)
		if n > 0 {
			err = writeFrame(w, frameInput, buf[:n])
		}
		if errors.Is(readErr, io.EOF) {
			break
		}
		if readErr != nil {
			w.Close()
			return fmt.Errorf("read the input: %w", readErr)
		}
	}
	if err == nil {
		_ = writeFrame(w, frameInputEnd, nil)
	}
	return nil // a call that ended before it took all of its input has an answer
}

// answerReader takes what `sweep inside` writes, as it comes.
type answerReader struct {
	mu    sync.Mutex
	rest  []byte
	final insideAnswer
	whole bool
	out   [2]bounded
}

func newAnswerReader() *answerReader { return &answerReader{} }

func (a *answerReader) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rest = append(a.rest, p...)
	for len(a.rest) >= 5 {
		size := int(binary.BigEndian.Uint32(a.rest[1:5]))
		if size > maxFrame {
			return 0, fmt.Errorf("a frame of %d bytes, more than %d: this is not sweep's answer", size, maxFrame)
		}
		if len(a.rest) < 5+size {
			break
		}
		kind, data := a.rest[0], a.rest[5:5+size]
		switch kind {
		case frameStdout:
			_, _ = a.out[0].Write(data)
		case frameStderr:
			_, _ = a.out[1].Write(data)
		case frameAnswer:
			a.whole = json.Unmarshal(data, &a.final) == nil
		default:
			return 0, fmt.Errorf("a frame of kind %q: this is not sweep's answer", kind)
		}
		a.rest = a.rest[5+size:]
	}
	return len(p), nil
}

// answer is what came, and whether it came whole.
func (a *answerReader) answer() (insideAnswer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	final := a.final
	final.stdout, final.stderr = a.out[0].bytes(), a.out[1].bytes()
	return final, a.whole
}

package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	maxEventLine = 1 << 20  // bytes of one event
	maxEventRead = 64 << 20 // bytes taken by one call of ReadEvents
)

// ReadEvents reads the events of a journal from a byte offset and returns where
// the next call goes on. It suits a reader that follows a journal while it is
// written: a last line without its end is left for the next call. Events of an
// unknown type are kept. A line that is no event, or that a newer sweep wrote,
// is set aside and reported. One call takes at most 64 MiB; the end is reached
// when the offset stays where it was.
//
// The error is one of opening or reading the file; a missing one is
// fs.ErrNotExist. What was read before it is returned.
func ReadEvents(path string, offset int64) ([]Event, int64, []Problem, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, offset, nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, offset, nil, err
	} else if info.Size() < offset {
		return nil, offset, []Problem{{path, fmt.Sprintf("is shorter (%d bytes) than what was read of it before (%d)", info.Size(), offset)}}, nil
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, offset, nil, err
	}
	events, n, problems, err := decodeEvents(f, path, offset)
	return events, offset + n, problems, err
}

// decodeEvents reads whole lines and returns how many bytes they were.
func decodeEvents(r io.Reader, path string, base int64) (events []Event, read int64, problems []Problem, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	for read < maxEventRead {
		line, n, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return events, read, problems, nil
		}
		if err != nil {
			return events, read, problems, err
		}
		event, bad := decodeEvent(line, n)
		if bad != nil {
			problems = append(problems, Problem{path, fmt.Sprintf("the line at byte %d %v", base+read, bad)})
		} else if event != nil {
			events = append(events, *event)
		}
		read += n
	}
	return events, read, problems, nil
}

// readLine returns one line without its end and the number of bytes it took.
// Of a line above the limit it keeps nothing: memory stays bounded. io.EOF
// means that no whole line is left.
func readLine(in *bufio.Reader) (line []byte, n int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		n += int64(len(part))
		if n <= maxEventLine {
			line = append(line, part...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(line, []byte("\n")), n, err
		}
	}
}

// decodeEvent returns no event and no error for an empty line. size is the
// line's length in the file.
func decodeEvent(line []byte, size int64) (*Event, error) {
	if size > maxEventLine {
		return nil, fmt.Errorf("is longer than %d bytes; it is left out", maxEventLine)
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return nil, nil
	}
	if err := checkSchema(line); err != nil {
		return nil, err
	}
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, fmt.Errorf("is no event (%w); it is left out", err)
	}
	if e.Type == "" || e.Seq < 1 {
		return nil, errors.New("is no event (it has no type or no number); it is left out")
	}
	return &e, nil
}

package bench

import (
	"bytes"
	"errors"
)

// maxFrame bounds one event in bytes, so that a server which never ends a line
// cannot take the machine's memory. Streams that repeat the whole text in every
// event stay far below it; a client that stops at 64 KB reads them as empty.
const maxFrame = 64 << 20

var errFrameTooLong = errors.New("an event of the stream is longer than 64 MiB")

// frames assembles server-sent events from pieces that may end anywhere.
// Lines end in LF or CRLF. Comments and other fields are passed over. The data
// lines of one event are joined by LF, as the standard has it.
type frames struct {
	line []byte // an unfinished line
	data []byte // data of the unfinished event
	has  bool   // the unfinished event has data
}

// feed takes the next piece and hands every event that it completes to emit.
// The slice is only valid during the call: what is complete within one piece is
// not copied.
func (f *frames) feed(piece []byte, emit func(data []byte)) error {
	data, owned := f.data, true
	for {
		end := bytes.IndexByte(piece, '\n')
		if end < 0 {
			break
		}
		line := piece[:end]
		piece = piece[end+1:]
		if len(f.line) > 0 {
			line = append(f.line, line...)
			f.line = line[:0] // not written again before the end of this call
		}
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if len(line) == 0 {
			if f.has {
				emit(data)
			}
			data, owned, f.has = f.data[:0], true, false
			continue
		}
		value, ok := field(line)
		switch {
		case !ok:
		case !f.has:
			data, owned, f.has = value, false, true
		default:
			if !owned {
				data, owned = append(f.data[:0], data...), true
			}
			data = append(append(data, '\n'), value...)
		}
	}
	if !owned {
		data = append(f.data[:0], data...)
	}
	f.data = data
	f.line = append(f.line, piece...)
	if len(f.line) > maxFrame || len(f.data) > maxFrame {
		return errFrameTooLong
	}
	return nil
}

// end is called when the body is over. The last event counts even without the
// empty line after it, since a server that closes right after `data: [DONE]`
// has said all it wanted.
func (f *frames) end(emit func(data []byte)) error {
	return f.feed([]byte("\n\n"), emit)
}

// field returns the value of a data line, without the one space that may follow
// the colon.
func field(line []byte) (value []byte, ok bool) {
	value, ok = bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return nil, false
	}
	return bytes.TrimPrefix(value, []byte{' '}), true
}

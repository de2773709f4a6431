package bench

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxHeader bounds one line of a response's head or chunk framing, in bytes.
const maxHeader = 64 << 10

// part is what the next bytes of a response belong to.
type part int

const (
	partStatus part = iota
	partHeader
	partBody      // with a length that is known: left
	partToClose   // until the connection closes
	partChunkSize // the line before a chunk
	partChunk     // inside a chunk: left
	partChunkEnd  // the line end after a chunk
	partTrailer
	partDone
)

// response reads one HTTP/1.1 response from pieces that may end anywhere. The
// zero value is ready for the first byte.
type response struct {
	status   int
	close    bool   // the connection cannot carry another request
	location string // where a redirect leads

	part    part
	line    []byte // an unfinished line
	left    int64  // bytes left of the body or chunk
	length  int64  // Content-Length plus one; 0 when there was none
	chunked bool
}

// done tells whether the response is complete.
func (r *response) done() bool { return r.part == partDone }

// feed consumes the next piece up to the end of the response and hands the
// body's bytes to body as they come. It returns how many bytes it took: fewer
// than there are only when the response is complete.
func (r *response) feed(piece []byte, body func([]byte) error) (int, error) {
	rest := piece
	for len(rest) > 0 && r.part != partDone {
		switch r.part {
		case partBody, partChunk:
			n := min(int64(len(rest)), r.left)
			r.left -= n
			data := rest[:n]
			rest = rest[n:]
			if r.left == 0 && r.part == partBody {
				r.part = partDone
			} else if r.left == 0 {
				r.part = partChunkEnd
			}
			if err := body(data); err != nil {
				return len(piece) - len(rest), err
			}
		case partToClose:
			data := rest
			rest = nil
			if err := body(data); err != nil {
				return len(piece), err
			}
		default:
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				r.line = append(r.line, rest...)
				rest = nil
				if len(r.line) > maxHeader {
					return len(piece), errLongHeader
				}
				continue
			}
			line := rest[:end]
			rest = rest[end+1:]
			if len(r.line) > 0 {
				line = append(r.line, line...)
				r.line = line[:0] // not written again before the line is taken
			}
			if len(line) > maxHeader {
				return len(piece) - len(rest), errLongHeader
			}
			if err := r.take(bytes.TrimSuffix(line, []byte{'\r'})); err != nil {
				return len(piece) - len(rest), fmt.Errorf("malformed HTTP response: %w", err)
			}
		}
	}
	return len(piece) - len(rest), nil
}

var (
	errClosed     = errors.New("the connection closed before the response ended")
	errLongHeader = errors.New("malformed HTTP response: a header line is longer than 64 KiB")
)

// end is called when the server has closed the connection.
func (r *response) end() error {
	if r.part == partToClose {
		r.part = partDone
	}
	if r.part != partDone {
		return errClosed
	}
	return nil
}

// take interprets one complete line outside the body's data. The framing of
// chunks is read without allocating: there is one of each a token.
func (r *response) take(line []byte) error {
	switch r.part {
	case partStatus:
		return r.takeStatus(string(line))
	case partHeader:
		if len(line) == 0 {
			return r.startBody()
		}
		return r.takeHeader(string(line))
	case partChunkSize:
		size, _, _ := bytes.Cut(line, []byte{';'})
		n, ok := hexadecimal(bytes.TrimSpace(size))
		if !ok {
			return fmt.Errorf("chunk size %q", clean(line, 40))
		}
		r.left, r.part = n, partChunk
		if n == 0 {
			r.part = partTrailer
		}
	case partChunkEnd:
		if len(line) > 0 {
			return errors.New("a chunk is longer than its size")
		}
		r.part = partChunkSize
	case partTrailer:
		if len(line) == 0 {
			r.part = partDone
		}
	}
	return nil
}

// hexadecimal reads the size of a chunk, below 2^60.
func hexadecimal(digits []byte) (n int64, ok bool) {
	for _, c := range digits {
		switch {
		case n >= 1<<56:
			return 0, false
		case c >= '0' && c <= '9':
			n = n<<4 | int64(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | int64(c-'a'+10)
		case c >= 'A' && c <= 'F':
			n = n<<4 | int64(c-'A'+10)
		default:
			return 0, false
		}
	}
	return n, len(digits) > 0
}

func (r *response) takeStatus(line string) error {
	version, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(code)
	if !strings.HasPrefix(version, "HTTP/1.") || err != nil || n < 100 || n > 999 {
		return fmt.Errorf("status line %q", clean([]byte(line), 40))
	}
	r.status, r.close, r.part = n, version == "HTTP/1.0", partHeader
	return nil
}

func (r *response) takeHeader(line string) error {
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return fmt.Errorf("header line %q", clean([]byte(line), 40))
	}
	value = strings.TrimSpace(value)
	switch strings.ToLower(name) {
	case "content-length":
		n, err := strconv.ParseUint(value, 10, 62)
		if err != nil {
			return fmt.Errorf("content length %q", clean([]byte(value), 40))
		}
		r.length = int64(n) + 1
	case "transfer-encoding":
		if !strings.EqualFold(value, "chunked") {
			return fmt.Errorf("transfer encoding %q", clean([]byte(value), 40))
		}
		r.chunked = true
	case "location":
		r.location = value
	case "connection":
		switch strings.ToLower(value) {
		case "close":
			r.close = true
		case "keep-alive":
			r.close = false
		}
	}
	return nil
}

// startBody decides by the head how the body ends, in the order of RFC 9112, 6.3.
func (r *response) startBody() error {
	switch {
	case r.status < 200 && r.status != 101: // 100 Continue and the like: the real head follows
		*r = response{line: r.line}
	case r.status == 204 || r.status == 304:
		r.part = partDone
	case r.chunked:
		r.part = partChunkSize
	case r.length == 1:
		r.part = partDone
	case r.length > 0:
		r.left, r.part = r.length-1, partBody
	default:
		r.close, r.part = true, partToClose
	}
	return nil
}

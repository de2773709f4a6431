package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

// reader reads pieces of files on the host through one session. A small sh
// loop over there answers requests; it ends with its input, so that nothing
// stays behind when the connection goes, as a tail -f would.
type reader struct {
	host   *Host
	mark   string
	in     *io.PipeWriter
	out    *bufio.Reader
	cancel context.CancelFunc
}

const (
	block    = 64 << 10 // dd seeks in blocks; requests start at one
	maxPiece = 4 << 20  // bytes of one answer
)

// piece is an answer: a part of a file, and what the file is right now.
type piece struct {
	inode  uint64
	size   int64
	mtime  int64 // seconds since 1970
	offset int64 // of data
	data   []byte
}

// readLoop answers "BLOCK BYTES" and a path, each a line, with a line
// "ok INODE SIZE MTIME COUNT", COUNT bytes from that block on, and the mark.
// The mark shows whether the bytes were all there: a file may shrink between
// stat and read. LC_ALL keeps messages in English, numbers as they are.
const readLoop = `LC_ALL=C; export LC_ALL
while read -r b n && IFS= read -r p; do
  if [ ! -e "$p" ]; then echo absent; continue; fi
  if [ ! -f "$p" ]; then echo irregular; continue; fi
  if [ ! -r "$p" ]; then echo unreadable; continue; fi
  set -- $(stat -L -c '%i %s %Y' "$p" 2>/dev/null)
  if [ $# -ne 3 ]; then echo absent; continue; fi
  c=$(($2 - b * 65536))
  if [ "$c" -gt "$n" ]; then c=$n; fi
  if [ "$c" -lt 0 ]; then c=0; fi
  echo "ok $1 $2 $3 $c"
  if [ "$c" -gt 0 ] && [ "$b" -eq 0 ]; then head -c "$c" <"$p"
  elif [ "$c" -gt 0 ]; then dd if="$p" bs=65536 skip="$b" 2>/dev/null </dev/null | head -c "$c"; fi
  echo "$m"
done`

// newReader starts the loop. The reader ends with ctx.
func (h *Host) newReader(ctx context.Context) *reader {
	ctx, cancel := context.WithCancel(ctx)
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	r := &reader{host: h, mark: newMark(), in: inWrite, out: bufio.NewReaderSize(outRead, block), cancel: cancel}
	stderr := &tail{max: 1 << 10}
	cmd := Cmd{label: "read files", Argv: []string{"/bin/sh", "-c", "m=" + r.mark + "\n" + readLoop}, Sudo: h.settings.Sudo,
		Stdin: inRead, Stdout: outWrite, Stderr: stderr}
	go func() {
		code, err := h.Run(ctx, cmd)
		if err == nil {
			err = fmt.Errorf("%s: read files: sh ended with code %d: %s", h.settings.name(), code, ending(string(stderr.kept), 200))
		}
		outWrite.CloseWithError(err)
		inRead.CloseWithError(err)
	}()
	return r
}

func (r *reader) close() {
	r.in.Close()
	r.cancel()
}

// errDesync is an answer that was not whole: the file shrank meanwhile.
var errDesync = errors.New("the file changed while it was read")

// ask sends a request for bytes from the block on in which offset lies.
func (r *reader) ask(file string, offset, max int64) error {
	if err := checkPath(file); err != nil {
		return err
	}
	_, err := fmt.Fprintf(r.in, "%d %d\n%s\n", offset/block, min(max+offset%block, maxPiece+block), file)
	return err
}

// answer reads the next answer; offset is that of the question.
func (r *reader) answer(file string, offset int64) (piece, error) {
	head, err := r.out.ReadSlice('\n')
	if err != nil {
		return piece{}, err
	}
	words := strings.Fields(string(head))
	if len(words) == 1 {
		reason := map[string]error{"absent": fs.ErrNotExist, "unreadable": fs.ErrPermission, "irregular": errors.New("not a regular file")}[words[0]]
		if reason != nil {
			return piece{}, &fs.PathError{Op: r.host.settings.name() + ": read", Path: file, Err: reason}
		}
	}
	var p piece
	var count int64
	if len(words) == 5 && words[0] == "ok" {
		var wrong [4]error
		p.inode, wrong[0] = strconv.ParseUint(words[1], 10, 64)
		p.size, wrong[1] = strconv.ParseInt(words[2], 10, 64)
		p.mtime, wrong[2] = strconv.ParseInt(words[3], 10, 64)
		count, wrong[3] = strconv.ParseInt(words[4], 10, 64)
		err = errors.Join(wrong[:]...)
	}
	if len(words) != 5 || err != nil || count < 0 || count > maxPiece+block || p.size < 0 {
		return piece{}, fmt.Errorf("%s: read %s: the host answered %q", r.host.settings.name(), file, clean(string(head), 80))
	}
	buf := make([]byte, count+int64(len(r.mark))+1)
	if _, err := io.ReadFull(r.out, buf); err != nil {
		return piece{}, err
	}
	if string(buf[count:]) != r.mark+"\n" {
		return piece{}, errDesync
	}
	skip := min(offset%block, count)
	p.offset, p.data = offset, buf[skip:count]
	return p, nil
}

// at reads at most max bytes from an offset, and what the file is now.
func (r *reader) at(ctx context.Context, file string, offset, max int64) (piece, error) {
	// An answer that does not come is cut off with ctx, or by the keepalive.
	stop := context.AfterFunc(ctx, r.cancel)
	defer stop()
	limit := time.AfterFunc(pieceLimit, r.cancel)
	defer limit.Stop()
	if err := r.ask(file, offset, max); err != nil {
		return piece{}, err
	}
	return r.answer(file, offset)
}

// pieceLimit is the time for one answer of at most 4 MiB.
const pieceLimit = 5 * time.Minute

// checkPath refuses names that the protocol cannot carry.
func checkPath(file string) error {
	if !path.IsAbs(file) || strings.ContainsAny(file, "\n\x00") {
		return fmt.Errorf("remote path %q: an absolute path in one line is expected", clean(file, 80))
	}
	return nil
}

// isPathError is an answer about the file; the session goes on.
func isPathError(err error) bool {
	var failure *fs.PathError
	return errors.As(err, &failure)
}

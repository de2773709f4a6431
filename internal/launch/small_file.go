package launch

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// maxSmallFile bounds a marker, in bytes.
const maxSmallFile = 1 << 20

// readSmall reads a small regular file, whatever else lies there: a pipe would
// block, a link may lead anywhere, a device never ends.
func readSmall(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSmallFile {
		return nil, fmt.Errorf("%s is no marker of sweep's (%s, %d bytes): remove it", path, info.Mode().Type(), info.Size())
	}
	return io.ReadAll(io.LimitReader(f, maxSmallFile))
}

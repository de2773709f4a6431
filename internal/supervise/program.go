package supervise

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Program finds a bare name in the PATH of a command's own environment, not in
// ours; the last PATH counts. A name with a slash is taken as it is.
func Program(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	var dirs string
	for _, pair := range env {
		if value, ok := strings.CutPrefix(pair, "PATH="); ok {
			dirs = value
		}
	}
	if dirs == "" {
		return "", fmt.Errorf("find %q: its environment has no PATH; write the full path of the program", name)
	}
	for _, dir := range filepath.SplitList(dirs) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("find %q: it is not in its PATH %s", name, dirs)
}

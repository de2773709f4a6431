package move

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"sweep/internal/remote"
)

func (h *Homing) staging() string { return filepath.Join(h.entry.Home, ".incoming", h.entry.Key) }

func (h *Homing) bringNight(ctx context.Context, night string) error {
	if night == "" {
		return nil
	}
	return h.bring(ctx, path.Join("nights", night))
}

func (h *Homing) bringRun(ctx context.Context, run string, ended bool) error {
	id, name, _ := strings.Cut(run, "/")
	if err := errors.Join(checkPart(id), checkPart(name)); err != nil {
		return fmt.Errorf("a run is called %w", err)
	}
	if err := h.bring(ctx, path.Join("runs", id, name)); err != nil {
		return err
	}
	if !ended {
		return nil
	}
	return h.remember(func(e *Entry) {
		delete(h.runs, run)
		e.Brought = append(e.Brought, name)
	})
}

// checkPart refuses what is no plain directory name: names come from the host.
func checkPart(name string) error {
	if name == "" || len(name) > 200 || name[0] == '.' || strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return fmt.Errorf("%.60q, which is no name of sweep's", name)
	}
	return nil
}

// bring brings one directory of the data directory home. It is fetched beside
// the records, by links to what is there already, and then laid over them file
// by file.
func (h *Homing) bring(ctx context.Context, dir string) error {
	if h.sameDisk(ctx) {
		return nil
	}
	staging, home := filepath.Join(h.staging(), filepath.FromSlash(dir)), filepath.Join(h.entry.Home, filepath.FromSlash(dir))
	if err := seed(home, staging); err != nil {
		return fmt.Errorf("bring %s home: %w", dir, err)
	}
	pulled, err := h.place.host.PullTree(ctx, path.Join(h.entry.Data, dir), staging,
		remote.Limits{Files: homeFiles, File: homeFile, Total: homeTotal}, wanted)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // not there yet
	}
	if err != nil {
		return err
	}
	refused, err := lay(staging, home)
	if err != nil {
		return fmt.Errorf("bring %s home: %w", dir, err)
	}
	for _, text := range append(pulled.Refused, refused...) {
		h.tell(dir + ": not brought home: " + text)
	}
	return os.RemoveAll(staging)
}

// wanted leaves out what is under way and what is meant for the host alone.
func wanted(name string, _ int64) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") {
			return false
		}
	}
	return name != "stop"
}

// sameDisk tells whether the host's records are ours: an alias of this very
// machine and user. Then they are at home.
func (h *Homing) sameDisk(ctx context.Context) bool {
	info, err := os.Stat(h.entry.Home)
	if err != nil || filepath.Clean(h.entry.Home) != path.Clean(h.entry.Data) {
		return false
	}
	there, err := h.place.host.Stat(ctx, h.entry.Data)
	inode, ok := inodeOf(info)
	return err == nil && ok && there.Inode == inode && bootID() == h.place.platform.BootID
}

func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sweep/internal/sweep"
)

// ErrNotFound means that nothing on disk has the name that was asked for.
var ErrNotFound = errors.New("not found")

// ErrAmbiguous means that more than one thing has the name that was asked for.
var ErrAmbiguous = errors.New("ambiguous")

// Night is one sweep as it was frozen: its plan and its journal.
type Night struct {
	id   string
	dir  string
	plan *sweep.Plan

	namesakes int // older nights of the name by which it was opened
}

// ID is the night's name: unique, and sorting as nights started.
func (n *Night) ID() string { return n.id }

// Dir is the night's directory.
func (n *Night) Dir() string { return n.dir }

// Plan is what was frozen when the night was made. It must not be changed.
func (n *Night) Plan() *sweep.Plan { return n.plan }

// Namesakes says that a night was opened by a name that older ones have too, and
// how many; empty where none has.
func (n *Night) Namesakes() string {
	switch n.namesakes {
	case 0:
		return ""
	case 1:
		return "night " + n.id + ", the newest of its name; an older one is called that too"
	}
	return fmt.Sprintf("night %s, the newest of its name; %d older ones are called that too", n.id, n.namesakes)
}

// EventsPath is the night's journal, for ReadEvents.
func (n *Night) EventsPath() string { return filepath.Join(n.dir, eventsName) }

// nightTime is how an ID begins: when the night was made, in UTC.
const nightTime = "20060102-150405"

// CreateNight freezes a plan under a new ID: the time (UTC) and the sweep's
// name, with -2 and so on when that is taken. The night is there as a whole,
// with its plan, or not at all.
func (d *Dir) CreateNight(plan *sweep.Plan, now time.Time) (*Night, error) {
	base := now.UTC().Format(nightTime) + "-" + slug(plan.Name)
	made, err := os.MkdirTemp(d.nightsDir(), ".new-")
	if err != nil {
		return nil, fmt.Errorf("create night %s: %w", base, err)
	}
	defer os.RemoveAll(made) // gone already when all went well
	if err := writeJSON(filepath.Join(made, planName), plan); err != nil {
		return nil, fmt.Errorf("create night %s: %w", base, err)
	}
	for i, id := 2, base; ; i++ {
		dir := filepath.Join(d.nightsDir(), id)
		// Renaming onto a directory that is not empty fails, so of two sweeps
		// that want one ID one takes the next.
		err := os.Rename(made, dir)
		if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) {
			id = fmt.Sprintf("%s-%d", base, i)
			continue
		}
		if err == nil {
			err = syncDir(d.nightsDir())
		}
		if err != nil {
			return nil, fmt.Errorf("create night %s: %w", id, err)
		}
		return &Night{id: id, dir: dir, plan: plan}, nil
	}
}

// OpenNight finds a night by its ID, by a prefix of it that only one has, by the
// sweep's name, of which it takes the newest, or as "last". It fails with ErrNotFound or
// ErrAmbiguous, and then says what there is to choose from.
func (d *Dir) OpenNight(name string) (*Night, error) {
	ids, _, err := listDirs(d.nightsDir(), "night")
	if err != nil {
		return nil, fmt.Errorf("open night %q: %w", name, err)
	}
	id, older, err := pickNight(ids, name)
	if err != nil {
		return nil, fmt.Errorf("open night %q: %w", name, err)
	}
	dir := filepath.Join(d.nightsDir(), id)
	path := filepath.Join(dir, planName)
	plan, err := readJSON[sweep.Plan](path, maxPlanFile)
	if err != nil {
		return nil, fmt.Errorf("open night %s: its plan %s %s", id, path, problem(path, err).Text)
	}
	return &Night{id: id, dir: dir, plan: &plan, namesakes: older}, nil
}

// pickNight chooses among sorted IDs. older is how many nights before it have
// the same name, where it was that name that was given.
func pickNight(ids []string, name string) (id string, older int, err error) {
	if len(ids) == 0 {
		return "", 0, fmt.Errorf("%w: there is no night yet", ErrNotFound)
	}
	if name == "last" {
		return ids[len(ids)-1], 0, nil
	}
	var found, named []string
	for _, id := range ids {
		if id[min(len(nightTime)+1, len(id)):] == name && name != "" {
			named = append(named, id)
		}
		switch {
		case id == name:
			return id, 0, nil
		case name != "" && (strings.HasPrefix(id, name) || strings.HasSuffix(id, "-"+name)):
			found = append(found, id)
		}
	}
	if n := len(named); n > 0 {
		return named[n-1], n - 1, nil
	}
	switch len(found) {
	case 0:
		return "", 0, fmt.Errorf("%w: the last nights are %s", ErrNotFound, lastFew(ids))
	case 1:
		return found[0], 0, nil
	default:
		return "", 0, fmt.Errorf("%w: %d nights are called that, the last are %s; give more of the ID", ErrAmbiguous, len(found), lastFew(found))
	}
}

func lastFew(ids []string) string {
	return strings.Join(ids[max(0, len(ids)-5):], ", ")
}

// slug makes a name fit for a directory and for typing.
func slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case b.Len() >= 48:
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s
	}
	return "sweep"
}

package check

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sweep/internal/sweep"
)

// Model is what was found of a model, where the server will look for it.
type Model struct {
	Asked   string            `json:"asked"`  // as model-path says
	Hub     bool              `json:"hub"`    // it is a name of the Hugging Face hub
	Trouble string            `json:"error"`  // why it cannot be loaded; "" when it can
	Cached  bool              `json:"cached"` // Hub: a snapshot is in the cache
	Where   string            `json:"where"`  // Hub: the cache that was looked in
	Shards  int               `json:"shards"`
	Facts   *sweep.ModelFacts `json:"facts"`
	Disk    *Disk             `json:"disk"`

	Caches []sweep.CacheFacts `json:"caches"` // of compiled kernels
}

// ModelName is what a configuration gives as its model, a path or a name of the hub; "" for none.
func ModelName(c sweep.Configuration) string {
	for _, s := range c.Flags {
		if (s.Name == "model-path" || s.Name == "model") && len(s.Value.Words) == 1 {
			return s.Value.Words[0]
		}
	}
	return ""
}

// maxIndex bounds config.json and the index of shards, in bytes.
const maxIndex = 64 << 20

func tellModel(ctx context.Context, q Question, env environment) Model {
	m := Model{Asked: q.Model}
	for _, c := range cachesOf(env) {
		m.Caches = append(m.Caches, sizeOf(ctx, c.Name, c.Path))
	}
	dir := q.Model
	switch {
	case dir == "":
		return m
	case !filepath.IsAbs(dir): // sglang takes what is no directory for a name of the hub
		m.Hub = true
		m.Where = hubCache(env)
		if dir = snapshotOf(m.Where, q.Model); dir == "" {
			return m
		}
		m.Cached = true
	}
	m.Disk = diskOf(dir)
	if err := m.read(dir); err != nil {
		m.Trouble = err.Error()
	}
	return m
}

// hubCache is where the Hugging Face libraries keep what they download.
func hubCache(env environment) string {
	home := cmp.Or(env["HF_HOME"], filepath.Join(cmp.Or(env["XDG_CACHE_HOME"], filepath.Join(cmp.Or(env["HOME"], "/root"), ".cache")), "huggingface"))
	return cmp.Or(env["HF_HUB_CACHE"], env["HUGGINGFACE_HUB_CACHE"], filepath.Join(home, "hub"))
}

// snapshotOf is the directory of a model in the hub's cache: the revision that
// main points at. "" when it is not there.
func snapshotOf(cache, name string) string {
	repo := filepath.Join(cache, "models--"+strings.ReplaceAll(name, "/", "--"))
	if strings.Contains(name, "..") {
		return ""
	}
	revision, err := readSome(filepath.Join(repo, "refs", "main"), 200)
	if err != nil {
		return ""
	}
	dir := filepath.Join(repo, "snapshots", filepath.Base(strings.TrimSpace(string(revision))))
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// read looks at config.json, the index of shards and every shard: one byte of
// each is read, as the user that servers run as.
func (m *Model) read(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the model %s has no readable config.json: there is no such directory%s", dir, nearby(dir))
	case err != nil:
		return fmt.Errorf("%s: %s", dir, plainError(err))
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", dir)
	}
	sum := sha256.New()
	config, err := readSome(filepath.Join(dir, "config.json"), maxIndex)
	if err != nil {
		return fmt.Errorf("the model %s has no readable config.json: %s", dir, plainError(err))
	}
	fmt.Fprintf(sum, "config.json %d\n%s", len(config), config)
	shards, index, err := shardsOf(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(sum, "index %d\n%s", len(index), index)
	var total int64
	var missing []string
	why := error(nil)
	for _, shard := range shards {
		size, err := readable(filepath.Join(dir, shard))
		if err != nil {
			missing, why = append(missing, shard), cmp.Or(why, err)
			continue
		}
		total += size
		fmt.Fprintf(sum, "%s %d\n", shard, size)
	}
	if m.Shards = len(shards); len(missing) > 0 {
		return fmt.Errorf("the model %s lacks %d of %d shards, first %s (%s)", dir, len(missing), len(shards), missing[0], plainError(why))
	}
	m.Facts = &sweep.ModelFacts{Path: dir, Digest: hex.EncodeToString(sum.Sum(nil)), Bytes: total}
	if filepath.Base(filepath.Dir(dir)) == "snapshots" {
		m.Facts.Snapshot = filepath.Base(dir)
	}
	return nil
}

// shardsOf are the files that hold the weights: those of the index, else all
// that are there. None is no error: sglang knows other formats.
func shardsOf(dir string) (shards []string, index []byte, err error) {
	index, err = readSome(filepath.Join(dir, "model.safetensors.index.json"), maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		for _, pattern := range []string{"*.safetensors", "*.bin", "*.gguf"} {
			if found, _ := filepath.Glob(filepath.Join(dir, pattern)); len(found) > 0 {
				for _, f := range found {
					shards = append(shards, filepath.Base(f))
				}
				return shards, nil, nil
			}
		}
		return nil, nil, nil
	}
	var parsed struct {
		Shards map[string]string `json:"weight_map"` // tensor to file
	}
	if err == nil {
		err = json.Unmarshal(index, &parsed)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the model %s has an index of shards that cannot be read: %s", dir, plainError(err))
	}
	for _, shard := range parsed.Shards {
		if filepath.Base(shard) != shard {
			return nil, nil, fmt.Errorf("the model %s names a shard outside itself: %q", dir, shard)
		}
		shards = append(shards, shard)
	}
	slices.Sort(shards)
	return slices.Compact(shards), index, nil
}

// readable reads a byte of a file and returns its size.
func readable(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if info.Size() == 0 {
		return 0, errors.New("it is empty")
	}
	if strings.HasSuffix(path, ".incomplete") {
		return 0, errors.New("its download did not end")
	}
	_, err = f.ReadAt(make([]byte, 1), 0)
	return info.Size(), err
}

// nearby says what there is instead of a directory that is not there: a typing
// error shows at once.
func nearby(dir string) string {
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil {
		return ""
	}
	const most = 4
	var names []string
	for _, e := range entries {
		if len(names) < most && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return "; " + filepath.Dir(dir) + " is empty"
	}
	return "; " + filepath.Dir(dir) + " has " + strings.Join(names, ", ")
}

// What is counted of a cache.
const (
	cacheFiles = 20000
	cacheTime  = 2 * time.Second
)

// sizeOf counts a cache.
func sizeOf(ctx context.Context, name, dir string) sweep.CacheFacts {
	c := sweep.CacheFacts{Name: name, Path: dir}
	until := time.Now().Add(cacheTime)
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error { // what cannot be read is not counted
		if ctx.Err() != nil || c.Files >= cacheFiles || time.Now().After(until) {
			c.More = true
			return fs.SkipAll
		}
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // and the walk goes on
		}
		if info, err := e.Info(); err == nil {
			c.Files, c.Bytes = c.Files+1, c.Bytes+info.Size()
		}
		return nil
	})
	return c
}

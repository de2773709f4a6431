package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of the search for models in one directory. Models lie at most as deep
// as a Hugging Face cache below it: hub/models--o--n/snapshots/revision.
const (
	modelDepth   = 4
	modelEntries = 50_000
	modelTime    = 20 * time.Second
)

// model is a directory with config.json and weights.
type model struct {
	dir       string
	bytes     int64 // of its weights
	files, of int   // parts of the weights that are there, and that there should be
	changed   time.Time
}

func (m model) whole() bool { return m.files >= m.of }

// String says what a model is.
func (m model) String() string {
	text := fmt.Sprintf("%.1f GB of weights", float64(m.bytes)/1e9)
	if name := hubName(m.dir); name != "" {
		text = name + ", this very revision, " + text
	}
	if !m.whole() {
		text += fmt.Sprintf(", INCOMPLETE: %d of %d files", m.files, m.of)
	}
	return text
}

// hubName is the name on Hugging Face of a snapshot in its cache; "" otherwise.
func hubName(dir string) string {
	repo := filepath.Dir(filepath.Dir(dir))
	name, ok := strings.CutPrefix(filepath.Base(repo), "models--")
	if !ok || filepath.Base(filepath.Dir(dir)) != "snapshots" {
		return ""
	}
	return strings.Replace(name, "--", "/", 1)
}

// findModels searches directories for models: whole ones first, the largest
// first, of the same size the newest. A directory may be on a server that does
// not answer, where a read cannot be ended: what has not come in time is left
// out.
func findModels(ctx context.Context, roots []string) []model {
	ctx, cancel := context.WithTimeout(ctx, modelTime)
	defer cancel()
	found := make(chan []model, len(roots))
	for _, root := range roots {
		go func() {
			s := search{ctx: ctx, left: modelEntries}
			s.walk(root, 0)
			found <- s.models
		}()
	}
	var models []model
	for range roots {
		select {
		case some := <-found:
			models = append(models, some...)
		case <-ctx.Done():
		}
	}
	slices.SortFunc(models, func(a, b model) int {
		whole := 0
		if a.whole() != b.whole() {
			whole = 1
			if a.whole() {
				whole = -1
			}
		}
		return cmp.Or(whole, cmp.Compare(b.bytes, a.bytes), b.changed.Compare(a.changed), strings.Compare(a.dir, b.dir))
	})
	return slices.CompactFunc(models, func(a, b model) bool { return a.dir == b.dir }) // roots may name one directory twice
}

type search struct {
	ctx    context.Context
	left   int // entries that may still be looked at
	models []model
}

// partOf reads the number of parts from the name of one, as Hugging Face's
// libraries write them: model-00001-of-00083.safetensors.
var partOf = regexp.MustCompile(`-[0-9]+-of-([0-9]{1,6})\.safetensors$`)

// walk goes into directories, also through links (a bounded depth ends their
// circles), but not into those of a model.
func (s *search) walk(dir string, depth int) {
	if s.ctx.Err() != nil || !utf8.ValidString(dir) { // such a path cannot stand in a YAML file
		return
	}
	entries, err := os.ReadDir(dir)
	if s.left -= len(entries); err != nil || s.left < 0 {
		return
	}
	m := model{dir: dir}
	config := false
	var below []string
	for _, e := range entries {
		name, path := e.Name(), filepath.Join(dir, e.Name())
		weights := strings.HasSuffix(name, ".safetensors")
		if name != "config.json" && !weights && !e.IsDir() && e.Type()&os.ModeSymlink == 0 || strings.HasPrefix(name, ".") {
			continue
		}
		info, err := os.Stat(path) // of the file behind a link: a cache keeps links to blobs
		switch {
		case err != nil:
		case info.IsDir():
			below = append(below, path)
		case name == "config.json":
			config = true
		case weights && info.Size() > 0:
			m.files++
			m.bytes += info.Size()
			if info.ModTime().After(m.changed) {
				m.changed = info.ModTime()
			}
			if part := partOf.FindStringSubmatch(name); part != nil {
				of, _ := strconv.Atoi(part[1]) // six digits at most
				m.of = max(m.of, of)
			}
		}
	}
	if config && m.files > 0 {
		s.models = append(s.models, m)
		return
	}
	for _, path := range below {
		if depth < modelDepth {
			s.walk(path, depth+1)
		}
	}
}

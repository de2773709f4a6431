package sweep

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sweep/internal/sglang"
)

// InertGroup is some configurations that would start the same server, as far
// as is known before a start: what they differ in does nothing.
type InertGroup struct {
	Keep string   // the configuration that stands for all: the baseline, else the first
	Drop []Double // the others, in plan order
}

// Double is a configuration that repeats another one.
type Double struct {
	ID, Name string
	Why      string // what it differs in, and why that does nothing
}

// InertGroups finds configurations that differ in nothing that has an effect
// with this list's version of sglang. Only what sglang's source or its own
// warnings say is believed; with an unknown version that is less.
func InertGroups(p *Plan, fs *sglang.FlagSet) []InertGroup {
	f := inertFinder{plan: p, fs: fs, pieces: newPieces(fs), kinds: map[string]*inertKind{}, idle: map[string]*inertKind{}, places: map[string]int32{}, reasons: map[string]string{}}
	first := make(map[[16]byte]int32, len(p.Configurations))
	members := map[int32][]int32{} // by the first of them; only where there are two
	for i := range p.Configurations {
		key := f.key(&p.Configurations[i])
		one, taken := first[key]
		if !taken {
			first[key] = int32(i)
			continue
		}
		if members[one] == nil {
			members[one] = []int32{one}
		}
		members[one] = append(members[one], int32(i))
	}
	var found []InertGroup
	for _, one := range slices.Sorted(maps.Keys(members)) {
		found = append(found, f.group(members[one]))
	}
	return found
}

// inertFinder compares what configurations come to.
type inertFinder struct {
	plan    *Plan
	fs      *sglang.FlagSet
	pieces  *pieces
	kinds   map[string]*inertKind // by question
	idle    map[string]*inertKind
	places  map[string]int32
	reasons map[string]string // by what two configurations differ in

	lastPlace   int32
	lastPlaceOf *Configuration
	row, buf    []int32
	bytes       []byte
}

// inertKind is what does nothing in some configurations.
type inertKind struct {
	number int
	idle   sglang.Idle
	known  []int8 // by name: 0 not asked yet, 1 idle, 2 not
}

// kind finds it for a configuration; many questions have one answer.
func (f *inertFinder) kind(c *Configuration) *inertKind {
	key := f.pieces.question(c)
	k := f.kinds[string(key)]
	if k == nil {
		question := string(key)
		idle := sglang.IdleIn(f.pieces.asked(c), f.fs.Release())
		if k = f.idle[idle.Key()]; k == nil {
			k = &inertKind{number: len(f.idle), idle: idle}
			f.idle[idle.Key()] = k
		}
		f.kinds[question] = k
	}
	return k
}

func (k *inertKind) isIdle(id int, n name) bool {
	for len(k.known) <= id {
		k.known = append(k.known, 0)
	}
	if k.known[id] == 0 {
		k.known[id] = 2
		if n.variable && k.idle.Variable(n.text) != "" || !n.variable && k.idle.Flag(n.text) != "" {
			k.known[id] = 1
		}
	}
	return k.known[id] == 1
}

// key is equal for configurations that come to the same: where they run, and
// all that they set and that does something.
func (f *inertFinder) key(c *Configuration) [16]byte {
	kind := f.kind(c)
	f.row = f.pieces.row(c, true, f.row)
	f.bytes = binary.LittleEndian.AppendUint32(f.bytes[:0], uint32(f.place(c)))
	for id, worth := range f.row {
		if worth != 0 && !kind.isIdle(id, f.pieces.named[id]) {
			f.bytes = binary.LittleEndian.AppendUint32(f.bytes, uint32(id))
			f.bytes = binary.LittleEndian.AppendUint32(f.bytes, uint32(worth))
		}
	}
	sum := sha256.Sum256(f.bytes)
	return [16]byte(sum[:16])
}

// place numbers what configurations run in and by.
func (f *inertFinder) place(c *Configuration) int32 {
	if f.lastPlaceOf != nil && samePlace(f.lastPlaceOf, c) {
		return f.lastPlace
	}
	text := c.place()
	id, known := f.places[text]
	if !known {
		id = int32(len(f.places))
		f.places[text] = id
	}
	f.lastPlace, f.lastPlaceOf = id, c
	return id
}

// samePlace tells quickly that two configurations run in and by the same; false
// is no answer.
func samePlace(a, b *Configuration) bool {
	x, y := a.Container, b.Container
	return len(a.Command) == len(b.Command) && &a.Command[0] == &b.Command[0] && a.EnvFile == b.EnvFile && x.Runtime == y.Runtime &&
		x.Instance == y.Instance && x.Image == y.Image && x.CopyOf == y.CopyOf && x.Config == nil && y.Config == nil && x.Devices == nil && y.Devices == nil
}

// group says of configurations that come to the same which one stands for all,
// and why the others need not run.
func (f *inertFinder) group(members []int32) InertGroup {
	keep := members[max(slices.IndexFunc(members, func(i int32) bool { return f.plan.Configurations[i].Baseline }), 0)]
	kept := &f.plan.Configurations[keep]
	g := InertGroup{Keep: kept.Name}
	for _, i := range members {
		if c := &f.plan.Configurations[i]; i != keep {
			g.Drop = append(g.Drop, Double{ID: c.ID, Name: c.Name, Why: f.reason(kept, c)})
		}
	}
	return g
}

// reason says what two configurations differ in and why that does nothing, once
// for all pairs that differ in the same.
func (f *inertFinder) reason(a, b *Configuration) string {
	f.row, f.buf = f.pieces.row(a, false, f.row), f.pieces.row(b, false, f.buf)
	key := binary.AppendVarint(binary.AppendVarint(f.bytes[:0], int64(f.kind(a).number)), int64(f.kind(b).number))
	for id := range max(len(f.row), len(f.buf)) {
		x, y := at0(f.row, id), at0(f.buf, id)
		if x != y {
			key = binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(key, int64(id)), int64(x)), int64(y))
		}
	}
	f.bytes = key
	why, known := f.reasons[string(key)]
	if !known {
		one, other := a.settings(f.fs), b.settings(f.fs)
		_, na := f.fs.Effective(one, f.fs.Release())
		_, nb := f.fs.Effective(other, f.fs.Release())
		why = sglang.Reason(one, other, na, nb)
		f.reasons[string(key)] = why
	}
	return why
}

func at0(row []int32, i int) int32 {
	if i < len(row) {
		return row[i]
	}
	return 0
}

// place is what a configuration runs in and by, besides flags and variables.
func (c *Configuration) place() string {
	text, err := json.Marshal([]any{c.Command, c.EnvFile, c.Container})
	if err != nil {
		return c.ID // strings only, so never; and then it equals nothing
	}
	return string(text)
}

// DropInert is the plan without configurations that repeat another one, each
// listed among the dropped with its reason; the plan itself when there are
// none. The given plan stays as it is.
func (p *Plan) DropInert(fs *sglang.FlagSet) *Plan {
	gone := map[string]Dropped{}
	for _, g := range InertGroups(p, fs) {
		for _, d := range g.Drop {
			gone[d.ID] = Dropped{Name: d.Name, Rule: "inert, as " + g.Keep + ": " + d.Why}
		}
	}
	if len(gone) == 0 {
		return p
	}
	out := *p
	out.Configurations, out.Dropped, out.Runs = nil, slices.Clone(p.Dropped), nil
	var h hasher
	var sums [][sha256.Size]byte
	for _, c := range p.Configurations {
		if d, drop := gone[c.ID]; drop {
			out.Dropped = append(out.Dropped, d)
			continue
		}
		out.Configurations = append(out.Configurations, c)
		sums = append(sums, h.configuration(&c))
	}
	out.schedule(p.Runs[0].Port)
	skips := make(map[string][]Skipped, len(p.Configurations))
	for _, r := range p.Runs {
		skips[r.Config] = r.Skip
	}
	for i := range out.Runs {
		out.Runs[i].Skip = skips[out.Runs[i].Config]
	}
	out.Hash = out.hash(sums)
	return &out
}

// InertText says in one line how many configurations repeat others, and why;
// empty when none does.
func InertText(groups []InertGroup) string {
	var reasons []string
	n := 0
	for _, g := range groups {
		n += len(g.Drop)
		for _, d := range g.Drop {
			for why := range strings.SplitSeq(d.Why, "; ") {
				if !slices.Contains(reasons, why) {
					reasons = append(reasons, why)
				}
			}
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "1 configuration repeats another one: " + strings.Join(reasons, "; ") + "; --drop-inert leaves it out"
	}
	return strconv.Itoa(n) + " configurations repeat others: " + strings.Join(reasons, "; ") + "; --drop-inert leaves them out"
}

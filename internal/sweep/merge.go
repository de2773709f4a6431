package sweep

import (
	"encoding/binary"
	"slices"

	"sweep/internal/matrix"
)

// slot is one thing that a configuration can set. There is one for each flag
// and variable of the whole file, in the order of first mention.
type slot struct {
	target matrix.Target
	name   string
}

// merger lays settings over each other, later wins. It works on one row of
// pointers, so a hundred thousand configurations cost no map.
type merger struct {
	slots []slot
	index map[slot]int
	base  []write
	axes  [][][]write // by axis and value
	row   []*matrix.Setting
	slab  []matrix.Setting // what is handed out is cut from here

	// Places in the row, by target.
	flags, env []int
	command    int // -1: no axis and no include sets it
	origin     int // image or instance; -1 likewise

	// Few axes touch the environment, so points share what they take there.
	envAxes []int
	envs    map[string][]matrix.Setting
	key     []byte
}

// write is a setting with its place in the row.
type write struct {
	slot    int
	setting *matrix.Setting
}

func newMerger(s *Spec) *merger {
	m := &merger{index: map[slot]int{}, envs: map[string][]matrix.Setting{}, command: -1, origin: -1}
	m.base = append(m.compile(s.Server.Flags), m.compile(s.Server.Env)...)
	for i, a := range s.Axes {
		values := make([][]write, len(a.Values))
		env := false
		for j, v := range a.Values {
			values[j] = m.compile(v.Settings)
			env = env || slices.ContainsFunc(v.Settings, func(s matrix.Setting) bool { return s.Target == matrix.Env })
		}
		m.axes = append(m.axes, values)
		if env {
			m.envAxes = append(m.envAxes, i)
		}
	}
	for _, inc := range s.Include {
		m.compile(inc.Set)
	}
	for i, s := range m.slots {
		switch s.target {
		case matrix.Flag:
			m.flags = append(m.flags, i)
		case matrix.Env:
			m.env = append(m.env, i)
		case matrix.Command:
			m.command = i
		case matrix.Image:
			m.origin = i
		}
	}
	m.row = make([]*matrix.Setting, len(m.slots))
	return m
}

func (m *merger) compile(settings []matrix.Setting) []write {
	writes := make([]write, len(settings))
	for i := range settings {
		k := slot{settings[i].Target, settings[i].Name}
		if k.target == matrix.Instance {
			k.target = matrix.Image // one place: whichever is laid last says which container
		}
		at, ok := m.index[k]
		if !ok {
			at = len(m.slots)
			m.index[k] = at
			m.slots = append(m.slots, k)
		}
		writes[i] = write{at, &settings[i]}
	}
	return writes
}

func (m *merger) lay(writes []write) {
	for _, w := range writes {
		m.row[w.slot] = w.setting
	}
}

// merge fills in the command, flags, variables and container of one point:
// server < axis values in axis order < include.set.
func (m *merger) merge(c *Configuration, command []string, p matrix.Point) {
	clear(m.row)
	m.lay(m.base)
	for i, v := range p.Choice {
		if v != matrix.Any {
			m.lay(m.axes[i][v])
		}
	}
	if p.Include != nil {
		m.lay(m.compile(p.Include.Set))
	}
	c.Command = command
	if m.command >= 0 && m.row[m.command] != nil {
		c.Command = m.row[m.command].Value.Words
	}
	if m.origin >= 0 && m.row[m.origin] != nil {
		c.Container = c.Container.take(m.row[m.origin])
	}
	c.Flags = m.take(m.flags, false)
	if p.Include != nil {
		c.Env = m.take(m.env, true)
		return
	}
	m.key = m.key[:0]
	for _, axis := range m.envAxes {
		m.key = binary.AppendVarint(m.key, int64(p.Choice[axis]))
	}
	env, ok := m.envs[string(m.key)]
	if !ok {
		env = m.take(m.env, true)
		m.envs[string(m.key)] = env
	}
	c.Env = env
}

// take copies what the row sets at some places. A flag that is left out is
// left out here too; a variable that is unset stays, since the server would
// inherit it.
func (m *merger) take(places []int, omitted bool) []matrix.Setting {
	const chunk = 1 << 14
	if cap(m.slab)-len(m.slab) < len(places) || m.slab == nil {
		m.slab = make([]matrix.Setting, 0, max(chunk, len(places)))
	}
	from := len(m.slab)
	for _, i := range places {
		if s := m.row[i]; s != nil && (omitted || s.Value.Kind != matrix.Omit) {
			m.slab = append(m.slab, *s)
		}
	}
	return m.slab[from:len(m.slab):len(m.slab)]
}

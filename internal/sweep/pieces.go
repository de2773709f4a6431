package sweep

import (
	"encoding/binary"
	"maps"
	"slices"

	"sweep/internal/matrix"
	"sweep/internal/sglang"
)

// pieces are the different settings of a plan, each looked at once: a hundred
// thousand configurations are made of a few dozen.
type pieces struct {
	fs        *sglang.FlagSet
	all       []piece
	ids       map[settingKey]int32
	last      []int32 // by place in a configuration's flags: mostly the same in the next one
	commands  map[*string]int32
	envs      map[envKey]int32 // variables are shared between configurations
	variables []variables

	names   map[string]int32 // what is set, flags and variables, in order of first mention
	named   []name
	values  map[string]int32
	askFlag map[string]bool
	askEnv  map[string]bool

	key, scratch []byte
}

// name is a flag or a variable.
type name struct {
	text     string
	variable bool
}

// piece is one setting, or the words of a command, as sglang reads it.
type piece struct {
	setting *matrix.Setting // nil: a command
	given   sglang.Given
	means   []meaning
	flags   map[string][]string // what it sets of all that the rules on combinations look at; nil: nothing
}

// meaning is one flag or variable that is set.
type meaning struct {
	name  int32
	value int32 // as it is written, from 1
	worth int32 // equal for equal values; 0: as good as leaving it out
}

// variables are an environment.
type variables struct {
	means []meaning
	asked string // what the rules on combinations look at of it
	env   map[string]string
}

// settingKey stands for a setting that many configurations share.
type settingKey struct {
	name  string
	kind  matrix.Kind
	words *string
	count int
	pos   matrix.Pos
}

type envKey struct {
	first *matrix.Setting
	count int
}

func newPieces(fs *sglang.FlagSet) *pieces {
	ps := &pieces{fs: fs, ids: map[settingKey]int32{}, commands: map[*string]int32{}, envs: map[envKey]int32{},
		names: map[string]int32{}, values: map[string]int32{}, askFlag: map[string]bool{}, askEnv: map[string]bool{}}
	flags, env := fs.JudgedBy()
	for _, f := range flags {
		ps.askFlag[f] = true
	}
	for _, e := range env {
		ps.askEnv[e] = true
	}
	return ps
}

// command is the piece of a configuration's command.
func (ps *pieces) command(c *Configuration) int32 {
	id, known := ps.commands[&c.Command[0]]
	if !known {
		id = ps.add(piece{given: c.serverWords()})
		ps.commands[&c.Command[0]] = id
	}
	return id
}

// flag is the piece of the flag at a place in a configuration.
func (ps *pieces) flag(place int, s *matrix.Setting) int32 {
	if place < len(ps.last) {
		if id := ps.last[place]; id >= 0 && sameSetting(ps.all[id].setting, s) {
			return id
		}
	}
	key := settingKey{name: s.Name, kind: s.Value.Kind, count: len(s.Value.Words), pos: s.Pos}
	if key.count > 0 {
		key.words = &s.Value.Words[0]
	}
	id, known := ps.ids[key]
	if !known {
		id = ps.add(piece{setting: s, given: given(*s)})
		ps.ids[key] = id
	}
	for len(ps.last) <= place {
		ps.last = append(ps.last, -1)
	}
	ps.last[place] = id
	return id
}

func sameSetting(a, b *matrix.Setting) bool {
	return a.Pos == b.Pos && a.Name == b.Name && a.Value.Kind == b.Value.Kind && len(a.Value.Words) == len(b.Value.Words) &&
		(len(a.Value.Words) == 0 || &a.Value.Words[0] == &b.Value.Words[0])
}

// add reads a piece on its own: flags do not depend on each other there.
func (ps *pieces) add(p piece) int32 {
	settings := ps.fs.Settings([]sglang.Given{p.given}, nil)
	for _, flag := range slices.Sorted(maps.Keys(settings.Flags)) {
		words := settings.Flags[flag]
		equal, atDefault := ps.fs.Worth(flag, words)
		m := meaning{name: ps.name(flag, false), value: ps.value(words)}
		if !atDefault {
			m.worth = ps.value(equal)
		}
		p.means = append(p.means, m)
		if ps.askFlag[flag] {
			if p.flags == nil {
				p.flags = map[string][]string{}
			}
			p.flags[flag] = words
		}
	}
	ps.all = append(ps.all, p)
	return int32(len(ps.all) - 1)
}

// environment are the variables of a configuration.
func (ps *pieces) environment(c *Configuration) int32 {
	if len(c.Env) == 0 {
		return -1
	}
	key := envKey{&c.Env[0], len(c.Env)}
	id, known := ps.envs[key]
	if !known {
		var v variables
		for _, e := range c.Env {
			value := sglang.Unset
			if e.Value.Kind != matrix.Omit {
				value = e.Value.Words[0]
			}
			n := ps.value([]string{value})
			v.means = append(v.means, meaning{name: ps.name(e.Name, true), value: n, worth: n})
			if ps.askEnv[e.Name] {
				v.asked += e.Name + "=" + value + "\x00"
				if v.env == nil {
					v.env = map[string]string{}
				}
				v.env[e.Name] = value
			}
		}
		id = int32(len(ps.variables))
		ps.variables = append(ps.variables, v)
		ps.envs[key] = id
	}
	return id
}

func (ps *pieces) name(text string, variable bool) int32 {
	key := text
	if variable {
		key = "\x00" + text
	}
	id, known := ps.names[key]
	if !known {
		id = int32(len(ps.named))
		ps.names[key] = id
		ps.named = append(ps.named, name{text, variable})
	}
	return id
}

// value numbers different lists of words from 1.
func (ps *pieces) value(words []string) int32 {
	ps.scratch = ps.scratch[:0]
	for _, w := range words {
		ps.scratch = binary.AppendUvarint(ps.scratch, uint64(len(w)))
		ps.scratch = append(ps.scratch, w...)
	}
	id, known := ps.values[string(ps.scratch)]
	if !known {
		id = int32(len(ps.values)) + 1
		ps.values[string(ps.scratch)] = id
	}
	return id
}

// question is equal for configurations that the rules on combinations cannot
// tell apart. It is valid until the next one.
func (ps *pieces) question(c *Configuration) []byte {
	ps.key = binary.LittleEndian.AppendUint32(ps.key[:0], uint32(ps.command(c)))
	for i := range c.Flags {
		if id := ps.flag(i, &c.Flags[i]); ps.all[id].flags != nil {
			ps.key = binary.LittleEndian.AppendUint32(ps.key, uint32(id))
		}
	}
	ps.key = append(ps.key, 0xff, 0xff, 0xff, 0xff) // no piece
	if env := ps.environment(c); env >= 0 {
		ps.key = append(ps.key, ps.variables[env].asked...)
	}
	return ps.key
}

// asked are the settings of a configuration that the rules on combinations look
// at.
func (ps *pieces) asked(c *Configuration) sglang.Settings {
	s := sglang.Settings{Flags: map[string][]string{}}
	maps.Copy(s.Flags, ps.all[ps.command(c)].flags)
	for i := range c.Flags {
		maps.Copy(s.Flags, ps.all[ps.flag(i, &c.Flags[i])].flags)
	}
	if env := ps.environment(c); env >= 0 {
		s.Env = ps.variables[env].env
	}
	return s
}

// row is what a configuration sets, by name: the value as it is written, or
// with worth what it comes to. 0: not set. Names that are not known yet follow.
func (ps *pieces) row(c *Configuration, worth bool, row []int32) []int32 {
	row = row[:0]
	lay := func(means []meaning) {
		for _, m := range means {
			for int(m.name) >= len(row) {
				row = append(row, 0)
			}
			row[m.name] = m.value
			if worth {
				row[m.name] = m.worth
			}
		}
	}
	lay(ps.all[ps.command(c)].means)
	for i := range c.Flags {
		lay(ps.all[ps.flag(i, &c.Flags[i])].means)
	}
	if env := ps.environment(c); env >= 0 {
		lay(ps.variables[env].means)
	}
	return row
}

package sweep

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"

	"sweep/internal/matrix"
)

// A Configuration's ID is "c" and the first ten hex digits of the SHA-256 over
// what is asked, in a canonical form: every text with its length in front,
//
//	"sweep configuration 1"
//	the command's words
//	the flags, sorted by name: name, kind, words
//	the variables, sorted by name: name, kind, words
//	runtime and instance
//	then, each only where it is used, behind its own word:
//	"image", "copy-of", "config" and "devices" sorted by key, "env-file"
//
// Port, workload seed, secrets, names and labels are not part of it: they do
// not change what runs. Changing this form orphans everything ever measured.

const idVersion = "sweep configuration 1"

// idDigits is how much of the hash an ID shows: 40 bits.
const idDigits = 10

// hasher builds canonical forms in one buffer.
type hasher struct {
	buf        []byte
	flags, env []int // places by name, kept from the last configuration: mostly still right
}

func (h *hasher) text(s string) {
	h.buf = binary.AppendUvarint(h.buf, uint64(len(s)))
	h.buf = append(h.buf, s...)
}

func (h *hasher) number(n int) { h.buf = binary.AppendVarint(h.buf, int64(n)) }

func (h *hasher) texts(words []string) {
	h.number(len(words))
	for _, w := range words {
		h.text(w)
	}
}

// settings writes settings sorted by name. order is where to begin sorting from
// and is left sorted.
func (h *hasher) settings(settings []matrix.Setting, order *[]int) {
	places := *order
	if len(places) != len(settings) {
		places = places[:0]
		for i := range settings {
			places = append(places, i)
		}
	}
	// A few dozen that are nearly sorted: insertion is the fastest way.
	for i := range places {
		for j := i; j > 0 && settings[places[j-1]].Name > settings[places[j]].Name; j-- {
			places[j], places[j-1] = places[j-1], places[j]
		}
	}
	*order = places
	h.number(len(settings))
	for _, i := range places {
		h.text(settings[i].Name)
		h.text(string(settings[i].Value.Kind))
		h.texts(settings[i].Value.Words)
	}
}

func (h *hasher) words(m map[string]string) {
	h.number(len(m))
	for _, key := range sorted(slices.Collect(maps.Keys(m))) {
		h.text(key)
		h.text(m[key])
	}
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

// configuration is the hash of what a configuration asks for.
func (h *hasher) configuration(c *Configuration) [sha256.Size]byte {
	h.buf = h.buf[:0]
	h.text(idVersion)
	h.texts(c.Command)
	h.settings(c.Flags, &h.flags)
	h.settings(c.Env, &h.env)
	h.text(c.Container.Runtime)
	h.text(c.Container.Instance)
	for _, part := range [][2]string{{"image", c.Container.Image}, {"copy-of", c.Container.CopyOf}, {"env-file", c.EnvFile}} {
		if part[1] != "" {
			h.text(part[0])
			h.text(part[1])
		}
	}
	if len(c.Container.Config) > 0 {
		h.text("config")
		h.words(c.Container.Config)
	}
	if len(c.Container.Devices) > 0 {
		h.text("devices")
		h.number(len(c.Container.Devices))
		for _, name := range sorted(slices.Collect(maps.Keys(c.Container.Devices))) {
			h.text(name)
			h.words(c.Container.Devices[name])
		}
	}
	return sha256.Sum256(h.buf)
}

func idOf(sum [sha256.Size]byte) string {
	var id [1 + idDigits]byte
	id[0] = 'c'
	hex.Encode(id[1:], sum[:idDigits/2])
	return string(id[:])
}

package bench

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// DefaultVocab bounds token ids when the server's vocabulary is not known:
// smaller than that of any current model.
const DefaultVocab = 32000

// Ids below this are left out: tokenizers keep control tokens and single bytes there.
const lowestToken = 100

// Prompt returns the token ids of request index: deterministic in the
// workload's seed, the level's key and the index. Requests of one level differ
// in their first token (as long as there are fewer than ids), and two levels
// start at different places of different streams, so that no prefix cache can
// help (beyond a token or two by chance). Ids lie in [100, vocab), or in
// [0, vocab) for a tiny vocabulary.
func (w Workload) Prompt(levelKey string, index, length, vocab int) []int {
	return w.appendPrompt(make([]int, 0, length), levelKey, index, length, vocab)
}

// appendPrompt is Prompt into room that is there already.
func (w Workload) appendPrompt(ids []int, levelKey string, index, length, vocab int) []int {
	low := lowestToken
	if vocab < 4*lowestToken {
		low = 0
	}
	span := uint64(max(vocab-low, 1))
	var seed [8]byte
	binary.LittleEndian.PutUint64(seed[:], uint64(w.Seed))
	sum := sha256.Sum256(append(seed[:], levelKey...))
	start := binary.LittleEndian.Uint64(sum[:8])
	stream := rand.NewPCG(binary.LittleEndian.Uint64(sum[8:16]), uint64(index))

	for i := range length {
		if i == 0 {
			ids = append(ids, low+int((start%span+uint64(index))%span))
			continue
		}
		scaled, _ := bits.Mul64(stream.Uint64(), span) // uniform to within span/2^64
		ids = append(ids, low+int(scaled))
	}
	return ids
}

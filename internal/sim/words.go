package sim

import (
	"encoding/binary"
	"hash/fnv"
	"strings"
)

// pieces are the tokens of the simulated model: words with their leading space,
// none of which needs escaping in JSON. Their ids start at firstPiece.
type pieces []string

const firstPiece = 1000

func newPieces() pieces {
	words := strings.Fields(`the of and to in is that it was for on are with as his they at be this from have or by one had not but what all were when we there can an your
which their said if do will each about how up out them then she many some so these would other into has more her two like him see time could no make than first
been its who now people my made over did down only way find use may water long little very after words called just where most know get through back much before go
good new write our used me man too any day same right look think also around another came come work three word must because does part even place well such here
take why things help put years different away again off went old number great tell men say small every found still between name should home big give air line set
own under read last never us left end along while might next sound below saw something thought both few those always looked show large often together asked house
world going want school important until form food keep children feet land side without boy once animals life enough took sometimes four head above kind began
almost live page got earth need far hand high year mother light parts country father let night following picture being study second eyes soon times story boys
since white days ever paper hard near sentence better best across during today others however sure means knew try told young miles sun ways thing whole hear
example heard several change answer room sea against top turned learn point city play toward five using himself usually money seen didn car morning given`)
	for i, w := range words {
		words[i] = " " + w
	}
	return words
}

// at is the k-th token of the text that follows a prompt: the answer first, then
// words picked by the prompt's hash, the same every time.
func (p pieces) at(c *call, k int) (piece string, id int) {
	if k < len(c.answer) {
		return c.answer[k], firstPiece - 1 - k
	}
	x := c.hash + uint64(k)*0x9e3779b97f4a7c15 // splitmix64
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	i := int((x ^ x>>31) % uint64(len(p)))
	return p[i], firstPiece + i
}

// answer is what the model knows: enough for a sanity probe.
func answer(prompt string) []string {
	for _, fact := range []struct{ asked, answer string }{
		{"capital of Japan", " Tokyo."}, {"capital of Italy", " Rome."}, {"capital of Germany", " Berlin."},
		{"capital", " Paris."}, {"2+2", " 4."}, {"2 + 2", " 4."},
	} {
		if strings.Contains(prompt, fact.asked) {
			return []string{fact.answer}
		}
	}
	return nil
}

// naturalLength is after how many tokens the model stops by itself.
func naturalLength(hash uint64, answer []string) int {
	if answer != nil {
		return len(answer) + 1 // and the end-of-sequence token
	}
	return 200 + int(hash%600)
}

func hashText(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}

func hashIDs(ids []int) uint64 {
	h := fnv.New64a()
	var b [8]byte
	for _, id := range ids {
		binary.LittleEndian.PutUint64(b[:], uint64(id))
		_, _ = h.Write(b[:])
	}
	return h.Sum64()
}

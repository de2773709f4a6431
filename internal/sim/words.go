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

// thinkingEnd is the token that ends the reasoning.
const thinkingEnd = "</think>"

// at is the k-th token of the text that follows a prompt: the reasoning if there
// is any, then the answer, then words picked by the prompt's hash, the same
// every time.
func (p pieces) at(c *call, k int) (piece string, id int) {
	i := int(mix(c.hash, k) % uint64(len(p)))
	switch {
	case c.garbage != "":
		return garbagePiece(p, c, k)
	case c.tagged && k == c.thinking-1:
		return thinkingEnd, firstPiece - 1
	case k >= c.thinking && k-c.thinking < len(c.answer):
		return c.answer[k-c.thinking], firstPiece - 2 - (k - c.thinking)
	}
	return p[i], firstPiece + i
}

// The kinds of garbage.
const (
	garbageSymbol = "symbol" // one symbol, over and over
	garbageLoop   = "loop"   // sense for loopAfter tokens, then four words over and over
	garbageSalad  = "salad"  // syllables of no language
	garbageEmpty  = "empty"  // no text, although tokens are counted
)

// loopAfter is where the loop begins: behind what a short look would read.
const loopAfter = 150

func garbagePiece(p pieces, c *call, k int) (piece string, id int) {
	x := mix(c.hash, k)
	switch c.garbage {
	case garbageSymbol:
		return "+", 10
	case garbageEmpty:
		return "", 0
	case garbageSalad:
		syllables := strings.Fields("qzx vvu trk oep jjy wqo xib mrf uuk gzt pdl eio kfw nyq hbz ocv")
		return " " + syllables[x%16] + syllables[x>>8%16], int(x % firstPiece)
	}
	if k >= loopAfter {
		x = mix(c.hash, k%4)
	} else if k < len(c.answer) {
		return c.answer[k], firstPiece - 1 - k
	}
	i := int(x % uint64(len(p)))
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

// thinkingLength is how many tokens the model reasons (invented).
func thinkingLength(hash uint64) int { return 40 + int(hash>>32%120) }

// textIDs are the tokens of a text: four bytes each, so texts that begin alike
// have tokens that begin alike. The empty text is one token.
func textIDs(s string) []int32 {
	ids := make([]int32, 0, len(s)/4+1)
	for at := 0; at < len(s) || at == 0; at += 4 {
		var b [4]byte
		copy(b[:], s[at:])
		ids = append(ids, int32(binary.LittleEndian.Uint32(b[:]))) //nolint:gosec // any 32 bits name the token
	}
	return ids
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

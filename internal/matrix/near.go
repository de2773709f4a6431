package matrix

import "strings"

// maxNear bounds the words that Near compares, so that hostile input cannot
// make a message expensive.
const maxNear = 64

// Near returns the candidate that a person most likely meant by word, or ""
// when none is close: at most one slip in three letters, where a slip is a
// letter too many, too few, wrong, or swapped with its neighbour. A word that was
// cut short, or goes on too long, is as near as one slip, and nearer than another
// slip. Short words resemble too much: two letters are only ever cut short, and
// three have one slip. The first of equally close candidates wins.
func Near(word string, candidates []string) string {
	if len(word) < 2 || len(word) > maxNear {
		return ""
	}
	if cut := cutShort(word, candidates); cut != "" {
		return cut
	}
	best, slips := "", min(len(word)/3+1, 4)
	switch len(word) {
	case 2:
		return ""
	case 3:
		slips = 1
	}
	for _, c := range candidates {
		if len(c) > maxNear || c == "" {
			continue
		}
		if d := distance(word, c, slips); d < slips || (d == slips && best == "") {
			// A word made of nothing but slips resembles anything.
			if d < max(len(word), len(c)) {
				best, slips = c, d
			}
		}
	}
	return best
}

// cutShort is the candidate that the word begins, or that begins the word, and
// that differs least in length; "" where another is one slip away in a long word,
// or where they differ by more than a third of the word.
func cutShort(word string, candidates []string) string {
	best, least := "", max(len(word)/3, 1)+1
	for _, c := range candidates {
		if c == word || len(c) < 2 || len(c) > maxNear {
			continue
		}
		missing := max(len(c)-len(word), len(word)-len(c))
		if (strings.HasPrefix(c, word) || strings.HasPrefix(word, c)) && missing < least {
			best, least = c, missing
		}
	}
	if least > 1 && len(word) > 3 {
		for _, c := range candidates {
			if len(c) <= maxNear && distance(word, c, 1) <= 1 {
				return ""
			}
		}
	}
	return best
}

// Suggest is Near as a question to print: `did you mean "x"?`, or "".
func Suggest(word string, candidates []string) string {
	if near := Near(word, candidates); near != "" {
		return `did you mean "` + near + `"?`
	}
	return ""
}

// distance is the edit distance with swaps of neighbours (optimal string
// alignment) in bytes; anything above limit may come back as limit+1.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	var rows [3][maxNear + 1]int
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		row, last, beforeLast := &rows[i%3], &rows[(i+2)%3], &rows[(i+1)%3]
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], beforeLast[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
	}
	return rows[len(a)%3][len(b)]
}

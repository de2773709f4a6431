package matrix

// maxNear bounds the words that Near compares, so that hostile input cannot
// make a message expensive.
const maxNear = 64

// Near returns the candidate that a person most likely meant by word, or ""
// when none is close: at most one slip in three letters, where a slip is a
// letter too many, too few, wrong, or swapped with its neighbour. The first of
// equally close candidates wins.
func Near(word string, candidates []string) string {
	best, slips := "", len(word)/3+1
	if slips > 4 {
		slips = 4
	}
	if word == "" || len(word) > maxNear {
		return ""
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

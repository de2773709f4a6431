package sglang

import (
	"regexp"
	"slices"
	"strings"
)

const (
	tailLines   = 100 // kept of the end of the log
	maxBlocks   = 64  // ranks whose first fatal line is kept
	linesBefore = 2   // of context
	linesAfter  = 2   // of context behind a fatal line or an exception
	traceLines  = 4   // kept of the end of a traceback
)

// block is the first fatal line of one rank with its surroundings.
type block struct {
	rank   string
	before []string
	head   string
	text   string // head without its prefix
	after  []string
	trace  bool   // in a traceback: after keeps its end
	reason string // the exception that ended the traceback
	left   int    // lines that are still taken
}

// excerpts keeps what a person wants to see first of a failed log.
type excerpts struct {
	tail   []string
	blocks []*block
	open   *block
}

// read takes a line; fatal says that it tells of a failure.
func (e *excerpts) read(l line, fatal bool) {
	kept := cut(l.whole, maxKept)
	switch b := e.open; {
	case b == nil:
	case l.stamped(), l.rank != b.rank:
		e.open = nil
	default:
		b.extend(kept, fatal)
	}
	known := slices.ContainsFunc(e.blocks, func(b *block) bool { return b.rank == l.rank })
	if fatal && !known && len(e.blocks) < maxBlocks {
		e.open = &block{rank: l.rank, before: slices.Clone(e.tail[max(0, len(e.tail)-linesBefore):]), head: kept,
			text: cut(l.text, maxKept), trace: strings.Contains(l.text, traceHead), left: linesAfter}
		e.blocks = append(e.blocks, e.open)
	}
	if len(e.tail) == tailLines {
		e.tail = append(e.tail[:0], e.tail[1:]...)
	}
	e.tail = append(e.tail, kept)
}

// extend takes a line that continues the block's message.
func (b *block) extend(kept string, fatal bool) {
	switch {
	case b.trace:
		if len(b.after) == traceLines {
			b.after = slices.Delete(b.after, 0, 1)
		}
		b.after = append(b.after, kept)
		if fatal { // its exception ends it
			b.trace, b.reason = false, kept
		}
	case b.left > 0:
		b.after = append(b.after, kept)
		b.left--
	}
}

var figures = regexp.MustCompile(`0x[0-9a-fA-F]+|\d+`)

// key is equal for blocks that say the same but for ranks, pids and times.
func (b *block) key() string {
	return figures.ReplaceAllString(b.text+"\n"+strings.Join(b.after, "\n"), "#")
}

// last is the last line of the log.
func (e *excerpts) last() string {
	if len(e.tail) == 0 {
		return ""
	}
	return e.tail[len(e.tail)-1]
}

// lines returns at most n lines: the blocks in order of time, equal ones once,
// then the end of the log. What stands in the end is not shown before it.
func (e *excerpts) lines(n int) []string {
	if n <= 0 {
		return nil
	}
	end := min(len(e.tail), max(1, min(10, n/3)))
	tail := e.tail[len(e.tail)-end:]
	groups := slices.DeleteFunc(e.groups(), func(g group) bool { return slices.Contains(tail, g.head) })
	if len(groups) == 0 {
		return slices.Clone(e.tail[len(e.tail)-min(len(e.tail), n):])
	}
	limit, full := n-end-1, 0
	for _, g := range groups {
		full += len(g.before) + len(g.after) + 2
	}
	var out []string
	seen := map[string]bool{}
	add := func(lines ...string) {
		for _, s := range lines {
			if len(out) < limit && !seen[s] {
				out, seen[s] = append(out, s), true
			}
		}
	}
	for _, g := range groups {
		if full <= limit {
			add(g.before...)
			add(g.head)
			add(g.after...)
		} else {
			add(g.head)
			if g.reason != "" {
				add(g.reason)
			}
		}
		if g.others != "" {
			add("  (the same on " + g.others + ")")
		}
	}
	return slices.Concat(out, []string{"…"}, tail)
}

// group is a block with the names of other ranks that say the same.
type group struct {
	*block
	others string
}

func (e *excerpts) groups() []group {
	var out []group
	at := map[string]int{}
	for _, b := range e.blocks {
		key := b.key()
		i, ok := at[key]
		if !ok {
			at[key] = len(out)
			out = append(out, group{block: b})
			continue
		}
		if out[i].others != "" {
			out[i].others += ", "
		}
		out[i].others += b.rank
	}
	return out
}

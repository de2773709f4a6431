package main

import (
	"bufio"
	"fmt"
	"strings"
	"unicode/utf8"

	"sweep/internal/sweep"
)

// planWidth is how wide a plan is written: plans are pasted into tickets and
// read on consoles, so it does not follow the terminal.
const planWidth = 80

// planWrap writes first and text on lines of planWidth columns; the lines after
// the first begin with rest. It breaks at a space, else after a comma, else
// anywhere.
func planWrap(out *bufio.Writer, first, rest, text string) {
	text = sweep.Printable(text)
	fmt.Fprint(out, first)
	room := planWidth - utf8.RuneCountInString(first)
	for utf8.RuneCountInString(text) > room {
		cut := planCut(text, room)
		fmt.Fprint(out, strings.TrimRight(text[:cut], " "), "\n", rest)
		text = strings.TrimLeft(text[cut:], " ")
		room = planWidth - utf8.RuneCountInString(rest)
	}
	fmt.Fprintln(out, text)
}

// planCut is where to break a text that is longer than room.
func planCut(text string, room int) int {
	space, comma, runes := 0, 0, 0
	for i, r := range text {
		switch {
		case runes == room && r == ' ':
			return i // it fits exactly
		case runes == room && space > 0:
			return space
		case runes == room && comma > 0:
			return comma
		case runes == room:
			return i
		case r == ' ':
			space = i
		case r == ',':
			comma = i + 1
		}
		runes++
	}
	return len(text)
}

// Package matrix expands axes into points: the pure, file-order cross product
// of a sweep, minus what exclusion rules drop, plus what is included by hand.
//
// Values are carried verbatim, as the words a person wrote: nothing here turns
// "1e3", "0.85" or "007" into a number. The package imports nothing of sweep's.
package matrix

// Pos is a place in a sweep file, counted from 1. The zero Pos means that the
// thing did not come from a file.
type Pos struct {
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// Kind says how a Value appears on a command line.
type Kind string

// The kinds of value a sweep file can give to a flag or a variable.
const (
	Omit   Kind = "omit"   // false or null: the flag is left out; null: the variable is unset
	Off    Kind = "off"    // false for a flag that declares a --no-x twin: that twin, alone
	Switch Kind = "switch" // true: the flag alone, without a word
	Word   Kind = "word"   // a scalar: one word, exactly as written in the file
	Words  Kind = "words"  // a list: several words after one flag
	JSON   Kind = "json"   // a map: one word of JSON
)

// Value is what a file says for one flag or variable, verbatim.
type Value struct {
	Kind  Kind     `json:"kind"`
	Words []string `json:"words,omitempty"` // one for Word and JSON, any number for Words, none otherwise
}

// Target says what a Setting changes.
type Target string

// The targets an axis value can set.
const (
	Flag     Target = "flag"     // a server flag; Name is its long name without dashes
	Env      Target = "env"      // an environment variable; Name is the variable
	Command  Target = "command"  // the server's command words; Name is empty
	Image    Target = "image"    // the container image; Name is empty
	Instance Target = "instance" // the existing container; Name is empty
)

// Setting gives one value to one target.
type Setting struct {
	Target Target `json:"target"`
	Name   string `json:"name,omitempty"`
	Value  Value  `json:"value"`
	Pos    Pos    `json:"-"`
}

// Axis is one dimension of the matrix.
type Axis struct {
	Name   string
	Values []AxisValue
	Pos    Pos
}

// AxisValue is one choice on an axis: a label and the settings it bundles.
type AxisValue struct {
	Label    string
	Settings []Setting
	Pos      Pos
}

// Label names the value that a point has on one axis.
type Label struct {
	Axis  string `json:"axis"`
	Value string `json:"value"`
}

// Place is where a label stands in a file: its axis, and the value.
type Place struct{ Axis, Value Pos }

// Rule drops every combination that matches all of its labels and its
// condition.
type Rule struct {
	Labels []Label
	Places []Place // where each label stands; may be shorter than Labels
	When   *When   // nil: the labels alone decide
	Pos    Pos
	Text   string // the rule as a person would write it, for messages
}

// Include adds one configuration by hand: the point at the given labels with
// further settings on top.
type Include struct {
	Name   string
	Labels []Label
	Places []Place // where each label stands; may be shorter than Labels
	Set    []Setting
	Pos    Pos
}

// Matrix is everything that decides which points there are.
type Matrix struct {
	Base     []Setting // what every point has, for conditions to look at
	Axes     []Axis
	Exclude  []Rule
	Include  []Include
	Baseline Rule // a label for every axis; without labels: the first point
}

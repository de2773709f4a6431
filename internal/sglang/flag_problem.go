package sglang

// GivenKind says how a flag's value is written; the same words as in a sweep
// file's plan.
type GivenKind string

// The kinds of value.
const (
	GivenOmit   GivenKind = "omit"   // the flag is left out
	GivenOff    GivenKind = "off"    // the --no- twin, alone
	GivenSwitch GivenKind = "switch" // the flag alone
	GivenWord   GivenKind = "word"
	GivenWords  GivenKind = "words"
	GivenJSON   GivenKind = "json"
)

// Given is a flag as somebody gives it to the server. Without a name its words
// stand on the command line as they are.
type Given struct {
	Name  string // without dashes
	Kind  GivenKind
	Words []string
}

// Grade is how bad a problem is.
type Grade string

// The grades, worst first.
const (
	GradeError   Grade = "error"   // the server would not start, or not serve what is meant
	GradeWarning Grade = "warning" // probably not meant, or refused if the list is right
	GradeNote    Grade = "note"    // worth knowing
)

// Codes of problems with flags.
const (
	FlagUnknown    = "unknown-flag"
	FlagAmbiguous  = "ambiguous-flag"
	FlagShortened  = "abbreviated-flag"
	FlagAlias      = "alias"
	FlagChoice     = "bad-choice"
	FlagValue      = "bad-value"      // cannot be read as its type
	FlagAloneWord  = "word-on-switch" // a word after a switch
	FlagNoWord     = "no-word"        // a word is missing
	FlagManyWords  = "too-many-words"
	FlagNoOff      = "no-off-form"
	FlagInValue    = "flag-in-value" // a value that the server takes for a flag
	FlagMissing    = "missing-flag"
	FlagOld        = "deprecated-flag"
	FlagEnds       = "help" // the server prints its help and ends
	FlagFalseWord  = "false-is-true"
	FlagCombined   = "combination"
	FlagRewritten  = "rewritten"
	FlagDoesNought = "inert"
)

// FlagProblem is one thing about the flags of a server.
type FlagProblem struct {
	Code    string
	Grade   Grade
	Refused bool   // argparse with this list refuses the command line: exit 2
	Index   int    // of the Given at fault; -1 when it is none of them
	Flag    string // its name, as given or as completed
	Message string // what is wrong, lower case, one sentence
	Hint    string // what to do; may be empty

	// For a near match: the word that was not found, and what there would be.
	Word  string
	Among []string
}

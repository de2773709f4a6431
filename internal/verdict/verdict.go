// Package verdict judges records: rules that fire leave findings. It is pure,
// so old records can be judged again with new limits.
package verdict

// Grade is how much a finding weighs.
type Grade string

// The grades, from light to heavy.
const (
	Note    Grade = "note"    // ranked; explains
	Suspect Grade = "suspect" // ranked, marked
	Invalid Grade = "invalid" // shown with its reasons, never ranked
)

// Verdict is the worst grade of a measurement, or Valid without findings above
// a note.
type Verdict string

// The verdicts.
const (
	Valid     Verdict = "valid"
	IsSuspect Verdict = "suspect"
	IsInvalid Verdict = "invalid"
)

// Finding is one rule that fired.
type Finding struct {
	Code  string `json:"code"`
	Grade Grade  `json:"grade"`
	Run   string `json:"run"`
	Key   string `json:"key,omitempty"` // level key; empty: the whole run
	Seen  string `json:"seen"`          // what was seen, one sentence with figures and units
	Limit string `json:"limit"`         // the limit it broke
}

// Limits can be changed by a spec; the zero value of a field means its default.
type Limits struct {
	FailedShare float64 // requests-failed is invalid above this share; default 0.01
	ShortShare  float64 // tokens-short is invalid above this share; default 0.01
	Arithmetic  float64 // relative tolerance; default 0.01
	CachedShare float64 // cache-hit fires above this share of input tokens; default 0.01
	SlotShare   float64 // client-slots fires below this share of slots filled; default 0.95
	ClientCPU   float64 // client-bound fires from this share of the client's cores on; default 0.90
}

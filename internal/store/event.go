// Package store keeps what happened: the run directories, the only truth, and
// the journal of a night. Everything small is written by temporary file, fsync
// and rename; the journal by append and fsync.
//
//	DATA/nights/<SWEEP>/plan.json, events.jsonl
//	DATA/runs/<ID>/<RUN>/attempt-<k>/record.json, server.log,
//	     levels/<key>/measurement.json, requests.jsonl, bench.log
package store

import "time"

// EventType names a state change.
type EventType string

// The events of a night. Screen, --json, attach and resume read only these.
const (
	NightStart    EventType = "night.start"    // Text: the sweep file
	NightResume   EventType = "night.resume"   // an unfinished night goes on
	NightEnd      EventType = "night.end"      // Text: summary; Code: exit code
	Leftover      EventType = "leftover"       // something of a dead sweep was found; Text: what was done
	RunReused     EventType = "run.reused"     // Text: why
	RunStart      EventType = "run.start"      // Text: "anew: …" or "goes on: …" and why; "" for a run never begun before
	RunSkipped    EventType = "run.skipped"    // Text: why
	AttemptStart  EventType = "attempt.start"  // Text: "new" or "re-attached"
	PhaseStart    EventType = "phase"          // Phase; Progress where known
	Ready         EventType = "ready"          // Seconds since the start
	LevelStart    EventType = "level.start"    // Key, Level
	LevelProgress EventType = "level.progress" // Done, Total
	LevelReused   EventType = "level.reused"   // Text: why
	LevelEnd      EventType = "level.end"      // Key, figures
	LevelFailed   EventType = "level.failed"   // Key, Text
	AttemptFailed EventType = "attempt.failed" // Text, Cause
	AttemptEnd    EventType = "attempt.end"    // Seconds of teardown; Text: "clean" or what is left
	RunEnd        EventType = "run.end"        // Text: done, failed, interrupted
	Stopping      EventType = "stopping"       // a person asked to stop; Phase: StopAsked when that was heard, "" when it is done
	Hook          EventType = "hook"           // Phase: which; Text: command and output; Code
	Warning       EventType = "warning"        // Text
)

// Event is one line of events.jsonl, in the order things happened.
type Event struct {
	Schema   int       `json:"schema"`
	Seq      int64     `json:"seq"` // from 1, without gaps
	At       time.Time `json:"at"`
	Type     EventType `json:"type"`
	Night    string    `json:"night,omitempty"`   // its ID, where the night starts or goes on
	Ordinal  int       `json:"ordinal,omitempty"` // of the planned run
	Runs     int       `json:"runs,omitempty"`    // planned in this night
	Total    int       `json:"total,omitempty"`   // requests of the level
	Done     int       `json:"done,omitempty"`    // requests of the level answered so far
	Config   string    `json:"config,omitempty"`  // ID
	Name     string    `json:"name,omitempty"`    // configuration's name
	Run      string    `json:"run,omitempty"`
	Repeat   int       `json:"repeat,omitempty"`
	Attempt  int       `json:"attempt,omitempty"`
	Key      string    `json:"key,omitempty"`   // level key
	Level    string    `json:"level,omitempty"` // as shown: "c=64"
	Phase    string    `json:"phase,omitempty"`
	Progress *float64  `json:"progress,omitempty"` // 0 to 1
	Seconds  *float64  `json:"seconds,omitempty"`
	Code     *int      `json:"code,omitempty"`
	Text     string    `json:"text,omitempty"`
	Cause    string    `json:"cause,omitempty"`
	Figures  *Figures  `json:"figures,omitempty"`
}

// Figures are the headline numbers of one measured level.
type Figures struct {
	OutputThroughput *float64 `json:"output_throughput"` // output tok/s
	TTFTp50          *float64 `json:"ttft_p50_ms"`
	TPOTp50          *float64 `json:"tpot_p50_ms"`
	Completed        int      `json:"completed"`
	Failed           int      `json:"failed"`
	Verdict          string   `json:"verdict"`
	Findings         []string `json:"findings,omitempty"`
	Simulated        bool     `json:"simulated"`
}

package sweep

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// MaxPlan bounds a frozen plan, in bytes: 100,000 configurations are some
// 200 MB.
const MaxPlan = 1 << 30

// PlanError is a frozen plan that cannot be run as it stands.
type PlanError struct {
	File string
	Text string // what is wrong, and what to do
}

func (e *PlanError) Error() string { return e.File + ": " + e.Text }

// ThawPlan reads a frozen plan, as `sweep plan --json` and a night keep it, and
// makes sure that it is what was frozen: what its hash covers, and the commands
// that follow from it. The error is a *PlanError.
func ThawPlan(file string, data []byte) (*Plan, error) {
	bad := func(format string, args ...any) (*Plan, error) {
		return nil, &PlanError{File: file, Text: fmt.Sprintf(format, args...)}
	}
	const remade = "`sweep plan --json FILE` freezes one"
	var head struct {
		Schema *int              `json:"schema"`
		Runs   []json.RawMessage `json:"runs"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return bad("this is no frozen plan (%v): %s", err, remade)
	}
	switch {
	case head.Schema == nil || *head.Schema < 1 || head.Runs == nil:
		return bad("this is JSON, and no frozen plan: %s", remade)
	case *head.Schema != Schema:
		return bad("the plan has schema %d and this sweep runs %d: freeze it with the same sweep that runs it", *head.Schema, Schema)
	}
	var p Plan
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields() // what is not understood would not be done
	if err := decoder.Decode(&p); err != nil {
		return bad("the plan cannot be decoded (%v): freeze it with the same sweep that runs it", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return bad("there is something behind the plan: %s", remade)
	}
	if text := p.changed(); text != "" {
		return bad("the plan was changed since it was frozen (%s): edit the sweep file and freeze it again, %s", text, remade)
	}
	return &p, nil
}

// changed says what of a plan is not as it was frozen; "" where all is.
func (p *Plan) changed() string {
	sums := make([][sha256.Size]byte, len(p.Configurations))
	byID := make(map[string]*Configuration, len(p.Configurations))
	var h hasher
	for i := range p.Configurations {
		c := &p.Configurations[i]
		if len(c.Command) == 0 {
			return "the configuration " + quote(c.ID) + " has no command"
		}
		sums[i] = h.configuration(c)
		if idOf(sums[i]) != c.ID {
			return "the configuration " + quote(c.ID) + " is another one"
		}
		byID[c.ID] = c
	}
	if len(p.Runs) == 0 {
		return "there are no runs"
	}
	for i, r := range p.Runs {
		c := byID[r.Config]
		if c == nil || r.Ordinal != i+1 {
			return fmt.Sprintf("run %d is not what follows from its configuration", i+1)
		}
		argv := c.appendArgv(make([]string, 0, c.words()), strconv.Itoa(r.Port), func(name string) string { return "--" + name })
		if !slices.Equal(argv, r.Argv) {
			return fmt.Sprintf("the command of run %d is not what follows from its configuration", r.Ordinal)
		}
	}
	if p.hash(sums) != p.Hash {
		return "its hash does not fit"
	}
	return ""
}

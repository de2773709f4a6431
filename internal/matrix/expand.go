package matrix

import "math"

// MaxProduct bounds the full product, dropped combinations included: rules are
// judged on all of it, so it has to be walked.
const MaxProduct = 1_000_000

// MaxAxes bounds the axes of one matrix; with MaxProduct it bounds memory.
const MaxAxes = 32

// DefaultMax is how many points an expansion may have unless told otherwise.
const DefaultMax = 500

// Options narrow and bound an expansion.
type Options struct {
	Only []string // selections, see Select; empty: everything
	Max  int      // more points than this is an error; 0 means DefaultMax
}

// Expansion is what a matrix expands to.
type Expansion struct {
	Axes     []Axis
	Points   []Point // file order, the last axis fastest; then the includes
	Dropped  []Drop  // judged on the full product, whatever Only selects
	Idle     []*Rule // rules that dropped nothing that an earlier one had not
	Baseline int     // index into Points; -1: Only left the baseline out
}

// Expand walks the full product, drops what rules match, appends what is
// included by hand, selects, and finds the baseline: without one in the matrix
// it is the first configuration. The error is Problems.
func (m Matrix) Expand(o Options) (*Expansion, error) {
	problems := m.Check()
	if len(problems) > 0 {
		return nil, problems
	}
	size := m.Size()
	if size > MaxProduct {
		problems.add(m.pos(), "split the sweep into several files",
			"the axes multiply to %s combinations, more than %d", count(size), MaxProduct)
		return nil, problems
	}
	sel, problems := m.compile(o.Only)
	if len(problems) > 0 {
		return nil, problems
	}
	judges, problems := m.judges()
	if len(problems) > 0 {
		return nil, problems
	}
	e := &Expansion{Axes: m.Axes}
	w, problems := m.walk(e, sel, judges, size)
	if len(problems) > 0 {
		return nil, problems
	}
	for i := range m.Include {
		inc := &m.Include[i]
		p := Point{Choice: w.ix.choice(m.Axes, inc.Labels, nil, inc.Pos, "", &problems), Include: inc}
		isBaseline := i == 0 && w.kept == 0 && len(m.Baseline.Labels) == 0
		if !sel.matches(p, isBaseline) {
			continue
		}
		if isBaseline {
			e.Baseline = len(e.Points)
		}
		e.Points = append(e.Points, p)
	}
	if err := m.bound(e, w, sel, judges, o); err != nil {
		return nil, err
	}
	return e, nil
}

// Size is the number of combinations of the full product; it stops counting at
// the largest int.
func (m Matrix) Size() int {
	size := 1
	for _, a := range m.Axes {
		if n := len(a.Values); n > 0 && size > math.MaxInt/n {
			return math.MaxInt
		}
		size *= len(a.Values)
	}
	return size
}

// walked is what one walk over the product learnt.
type walked struct {
	ix           index
	kept         int   // before selection
	baselineRule *Rule // the rule that dropped the baseline
}

// walk goes through the product. The problems are those of conditions that have
// no answer at some point, one for each condition.
func (m Matrix) walk(e *Expansion, sel selection, judges []*judge, size int) (walked, Problems) {
	w := walked{ix: newIndex(m.Axes)}
	rules := make([][]int32, len(m.Exclude))
	for i, r := range m.Exclude {
		rules[i] = w.ix.choice(m.Axes, r.Labels, nil, r.Pos, "", new(Problems))
	}
	var problems Problems
	var wanted []int32
	if len(m.Baseline.Labels) > 0 {
		wanted = w.ix.choice(m.Axes, m.Baseline.Labels, nil, m.Baseline.Pos, "", new(Problems))
	}
	n := len(m.Axes)
	choices := make([]int32, size*n) // one backing array for every point
	current := make([]int32, n)
	hits := make([]int, len(rules))
	e.Baseline = -1
	for k := range size {
		p := Point{Choice: choices[k*n : (k+1)*n : (k+1)*n]}
		copy(p.Choice, current)
		isBaseline := wanted != nil && fits(wanted, p.Choice)
		if r := m.firstFit(e, rules, judges, p, &problems); r >= 0 {
			hits[r]++
			e.Dropped = append(e.Dropped, Drop{Point: p, Rule: &m.Exclude[r]})
			if isBaseline {
				w.baselineRule = &m.Exclude[r]
			}
		} else {
			w.kept++
			isBaseline = isBaseline || (wanted == nil && w.kept == 1)
			if sel.matches(p, isBaseline) {
				if isBaseline {
					e.Baseline = len(e.Points)
				}
				e.Points = append(e.Points, p)
			}
		}
		m.advance(current)
	}
	for i := range rules {
		if hits[i] == 0 {
			e.Idle = append(e.Idle, &m.Exclude[i])
		}
	}
	return w, problems
}

// advance moves to the next combination, the last axis fastest.
func (m Matrix) advance(choice []int32) {
	for i := len(choice) - 1; i >= 0; i-- {
		choice[i]++
		if int(choice[i]) < len(m.Axes[i].Values) {
			return
		}
		choice[i] = 0
	}
}

func fits(pattern, choice []int32) bool {
	for i, v := range pattern {
		if v != Any && v != choice[i] {
			return false
		}
	}
	return true
}

// firstFit is the first rule in file order that drops a point; -1: none does.
func (m Matrix) firstFit(e *Expansion, rules [][]int32, judges []*judge, p Point, problems *Problems) int {
	for i, r := range rules {
		if !fits(r, p.Choice) {
			continue
		}
		j := judges[i]
		if j == nil {
			return i
		}
		if j.broken {
			continue
		}
		yes, err := j.matches(m.Axes, p.Choice)
		if err != nil {
			j.broken = true // one place is enough to mend it
			j.trouble(err, e.Name(p), problems)
		}
		if yes {
			return i
		}
	}
	return -1
}

// judges are the conditions of the rules, nil for rules without one; together
// they may not cost more than a moment.
func (m Matrix) judges() ([]*judge, Problems) {
	var problems Problems
	judges := make([]*judge, len(m.Exclude))
	left := maxJudging
	for i := range m.Exclude {
		r := &m.Exclude[i]
		if r.When == nil {
			continue
		}
		judges[i] = newJudge(r.When, &m)
		if left -= judges[i].cost(); left < 0 {
			problems.add(r.Pos, "ask for fewer axes in one condition, or split the sweep into several files",
				"the conditions take more than %d steps to judge: this one depends on %d combinations", maxJudging, len(judges[i].answers))
			return nil, problems
		}
	}
	return judges, nil
}

// bound refuses an expansion that is empty, too large, or without the baseline
// that was asked for.
func (m Matrix) bound(e *Expansion, w walked, sel selection, judges []*judge, o Options) error {
	var problems Problems
	limit := o.Max
	if limit <= 0 {
		limit = DefaultMax
	}
	if w.baselineRule != nil {
		problems.add(m.Baseline.Pos, "take another baseline, or change the rule",
			"the baseline is dropped by the rule on line %d: %s", w.baselineRule.Pos.Line, w.baselineRule.Text)
	}
	switch {
	case w.kept == 0 && len(m.Include) == 0:
		problems = append(problems, m.emptied(e, judges)...)
	case len(problems) > 0:
	case len(e.Points) == 0:
		problems = append(problems, m.nothing(e, sel, o.Only))
	case len(e.Points) > limit:
		problems.add(m.pos(), "drop combinations with exclude, select some with --only, or raise --max-configs",
			"the sweep has %d configurations, more than %d", len(e.Points), limit)
	}
	return problems.err()
}

// pos is where the matrix begins.
func (m Matrix) pos() Pos {
	if len(m.Axes) > 0 {
		return m.Axes[0].Pos
	}
	return Pos{}
}

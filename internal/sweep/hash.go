package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
)

const planVersion = "sweep plan 1"

// hash covers everything that will happen: host, configurations, levels,
// limits, and the order, ports and repeats of the runs. Where the file lies,
// its comments and descriptions, what was dropped and warnings are not part of
// it: two plans of one hash do the same.
func (p *Plan) hash(sums [][sha256.Size]byte) string {
	h := &hasher{}
	sink := sha256.New()
	h.text(planVersion)
	h.texts([]string{p.Name, p.Host, p.Tool})
	for _, n := range []int{int(p.MaxLevel), int(p.SLO.TTFT), int(p.SLO.TPOT), int(p.SLO.E2E),
		int(p.Ready.Timeout), int(p.Ready.Stall), p.Repeats, len(p.Levels)} {
		h.number(n)
	}
	for _, l := range p.Levels {
		h.text(string(l.Mode))
		h.number(l.Concurrency)
		h.number(l.Prompts)
		h.text(l.Workload.Name)
		h.number(l.Workload.InputLen)
		h.number(l.Workload.OutputLen)
		h.text(strconv.FormatFloat(l.Workload.RangeRatio, 'g', -1, 64))
		h.number(int(l.Workload.Seed))
	}
	h.number(len(p.Configurations))
	for i, c := range p.Configurations {
		h.buf = append(h.buf, sums[i][:]...)
		h.text(c.Name)
		h.text(strconv.FormatBool(c.Baseline))
		h.number(len(c.Labels))
		for _, l := range c.Labels {
			h.text(l.Axis)
			h.text(l.Value)
		}
		h.flush(sink)
	}
	for _, r := range p.Runs {
		// The command follows from the configuration and the port; the order of
		// its flags means nothing to the server.
		h.text(r.Config)
		h.number(r.Repeat)
		h.number(r.Port)
		h.flush(sink)
	}
	p.hashMore(h)
	h.flush(sink)
	return hex.EncodeToString(sink.Sum(nil))
}

// hashMore covers what not every plan has: each part only where it is used and
// behind its own word, so that the hash of a plan without it stays the same.
func (p *Plan) hashMore(h *hasher) {
	for _, part := range []struct {
		word  string
		texts []string
	}{{"secrets", p.Secrets}, {"before-night", p.Hooks.BeforeNight}, {"before-run", p.Hooks.BeforeRun},
		{"after-run", p.Hooks.AfterRun}, {"after-night", p.Hooks.AfterNight}} {
		if len(part.texts) > 0 {
			h.text(part.word)
			h.texts(part.texts)
		}
	}
	if d := p.Night.Deadline; d != nil {
		h.text("deadline")
		h.text(d.String())
	}
	if p.Night.Cooldown > 0 {
		h.text("cooldown")
		h.number(int(p.Night.Cooldown))
	}
	for i, l := range p.Levels {
		if l.Rate > 0 || l.Workload.Text != "" {
			h.text("level")
			h.number(i)
			h.text(strconv.FormatFloat(l.Rate, 'g', -1, 64))
			h.text(l.Workload.Text)
		}
	}
	for _, r := range p.Runs {
		if len(r.Skip) > 0 {
			h.text("skip")
			h.number(r.Ordinal)
			for _, s := range r.Skip {
				h.text(s.Key)
			}
		}
	}
}

// flush hands the buffer on, so that a plan of any size needs little memory.
func (h *hasher) flush(sink hash.Hash) {
	sink.Write(h.buf) //nolint:errcheck // a hash never fails
	h.buf = h.buf[:0]
}

package sim

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// reply is what a client saw of one stream.
type reply struct {
	events      []event
	sent        time.Time
	first, last time.Time
	done        bool
}

type event struct {
	Text  string           `json:"text"`
	Error *json.RawMessage `json:"error"`
	Meta  struct {
		ID     string `json:"id"`
		Finish *struct {
			Type   string `json:"type"`
			Length int    `json:"length"`
		} `json:"finish_reason"`
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Cached     int `json:"cached_tokens"`
	} `json:"meta_info"`
}

func (r reply) final() event { return r.events[len(r.events)-1] }

// tpot is the time per output token after the first.
func (r reply) tpot() time.Duration {
	return r.last.Sub(r.first) / time.Duration(r.final().Meta.Completion-1)
}

// body is a streaming request of so many token ids, distinct by its first.
func body(first, in, out int) string {
	ids := make([]int, in)
	ids[0] = first
	b, _ := json.Marshal(ids)
	return fmt.Sprintf(`{"input_ids":%s,"sampling_params":{"max_new_tokens":%d,"ignore_eos":true},"stream":true}`, b, out)
}

func (r *reply) decode(raw []string) error {
	r.events = make([]event, len(raw))
	for i, data := range raw {
		if err := json.Unmarshal([]byte(data), &r.events[i]); err != nil {
			return fmt.Errorf("%s: %w", data, err)
		}
	}
	return nil
}

func (l *live) stream(request string) (reply, error) {
	r := reply{sent: time.Now()}
	resp, err := l.client.Post(l.url+"/generate", "application/json", strings.NewReader(request))
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return r, fmt.Errorf("status %s", resp.Status)
	}
	var raw []string // decoded afterwards, so that decoding does not slow the reading
	for lines := bufio.NewReader(resp.Body); ; {
		line, err := lines.ReadString('\n')
		if err == io.EOF && r.done {
			return r, r.decode(raw)
		}
		if err != nil {
			return r, err
		}
		data, isData := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		switch {
		case !isData:
		case data == "[DONE]":
			r.done = true
		default:
			r.last = time.Now()
			if r.first.IsZero() {
				r.first = r.last
			}
			raw = append(raw, data)
		}
	}
}

// burst sends n streams at once and waits for all.
func (l *live) burst(n, in, out int) []reply {
	l.t.Helper()
	replies, errs := make([]reply, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { replies[i], errs[i] = l.stream(body(i+1, in, out)) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			l.t.Fatal(err)
		}
	}
	return replies
}

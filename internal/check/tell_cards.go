package check

import (
	"context"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"sweep/internal/supervise"
)

// Cards is what nvidia-smi says in the place. There it counts cards; who holds
// them it cannot know: pids are the host's.
type Cards struct {
	Path  string `json:"path"` // "": there is no nvidia-smi
	Count int    `json:"count"`
	Code  int    `json:"code"` // NVML's
	Said  string `json:"said"` // when it failed
	Slow  bool   `json:"slow"` // no answer in time, twice
}

// cardsTime bounds one call; finding the cards takes long now and then.
const cardsTime = 22 * time.Second

var cardLine = regexp.MustCompile(`(?m)^GPU [0-9]+: `)

func tellCards(ctx context.Context, env environment) Cards {
	path, err := supervise.Program("nvidia-smi", env.list())
	if err != nil {
		return Cards{}
	}
	c := Cards{Path: path}
	bound := cardsTime
	if at, ok := ctx.Deadline(); ok {
		bound = min(bound, time.Until(at)/2)
	}
	for range 2 {
		call, cancel := context.WithTimeout(ctx, bound)
		cmd := exec.CommandContext(call, path, "-L")
		cmd.Env = env.list()
		listed, trouble, code, err := finish(cmd)
		out := string(listed) + string(trouble)
		c.Slow = call.Err() != nil
		cancel()
		if c.Slow && ctx.Err() == nil {
			continue
		}
		c.Code, c.Said = code, ""
		if err != nil {
			c.Said = err.Error()
		} else if code != 0 {
			c.Said = strings.TrimSpace(out)
		}
		c.Count = len(cardLine.FindAllString(out, -1))
		break
	}
	return c
}

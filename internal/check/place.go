package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"sweep/internal/launch"
	"sweep/internal/sweep"
)

// checkLabel is what instances of a check carry as their sweep.
const checkLabel = "check"

// place makes one instance in a container, looks, and removes it, also when a
// person stops the check.
func (c *checker) place(ctx context.Context, i int, p spot, several bool) (results []Result) {
	name := containerName(p.container)
	in := launch.Instance{Name: fmt.Sprintf("sweep-check-%d-%d", os.Getpid(), i+1)}
	made, cancel := context.WithTimeout(ctx, makeTime)
	defer cancel()
	defer func() {
		if err := c.remove(context.WithoutCancel(ctx), in); err != nil {
			results = append(results, Result{Container, Warn, name, "what the check made could not be removed: " + clip(err.Error()), "`sweep clean` tries again"})
		}
	}()
	began := time.Now()
	got, err := c.rt.Create(made, launch.InstanceSpec{Name: in.Name, Labels: map[string]string{"sweep": checkLabel}, Origin: OriginOf(p.container)})
	if err != nil {
		if made.Err() != nil && ctx.Err() == nil {
			return []Result{{Container, Fail, name, fmt.Sprintf("not made within %s", makeTime), "see what its tool says; is the image large and the storage slow?"}}
		}
		finding, remedy := originTrouble(err, in.Name)
		return []Result{{Container, Fail, name, finding, remedy}}
	}
	in = got
	l := look{checker: c, spot: p, in: in, name: name}
	switch {
	case p.container.Fresh():
		l.say(Container, OK, name, fmt.Sprintf("a fresh one was made in %.1f s", time.Since(began).Seconds()), "")
	case in.OnHost:
		l.say(Container, OK, name, "a server can be held on this machine", "")
	default:
		l.say(Container, OK, name, "it runs, and sweep runs in it", "")
	}
	if several {
		l.prefix = name + ": "
	}
	asked, cancelAsked := context.WithTimeout(ctx, lookTime)
	defer cancelAsked()
	l.all(asked)
	return l.results
}

// removeTime bounds the removal of what a check made.
const removeTime = 30 * time.Second

// remove removes an instance until nothing of it is listed any more: a
// container whose making was cut off may be refused at first, or appear late.
func (c *checker) remove(ctx context.Context, in launch.Instance) error {
	ctx, cancel := context.WithTimeout(ctx, removeTime)
	defer cancel()
	for {
		err := c.rt.Destroy(ctx, in)
		if errors.Is(err, launch.ErrForeign) {
			return nil // it was refused, not made
		}
		if err == nil {
			var list []launch.Instance
			list, err = c.rt.List(ctx)
			if err == nil && slices.ContainsFunc(list, func(x launch.Instance) bool { return x.Name == in.Name }) {
				err = fmt.Errorf("%s is still listed", in.Name)
			}
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// containerName is how a container is called in a report.
func containerName(c sweep.Container) string {
	switch {
	case c.Instance != "":
		return c.Instance
	case c.Image != "":
		return "image " + c.Image
	case c.CopyOf != "":
		return "copy of " + c.CopyOf
	}
	return "this machine"
}

// OriginOf is the container that a configuration asks for, as launch has it.
func OriginOf(c sweep.Container) launch.Origin {
	return launch.Origin{Instance: c.Instance, Image: c.Image, CopyOf: c.CopyOf, Config: c.Config, Devices: c.Devices}
}

// originTrouble splits what the runtime says into what is wrong and what to do.
func originTrouble(err error, instance string) (finding, remedy string) {
	text := clip(err.Error())
	for _, words := range []string{"create instance " + instance + ": ", launch.ErrOrigin.Error() + ": "} {
		text = strings.TrimPrefix(text, words)
	}
	if errors.Is(err, launch.ErrOrigin) {
		if i := strings.LastIndex(text, ": "); i > 0 && !strings.Contains(text[i:], "(") {
			return text[:i], text[i+2:]
		}
		if i := strings.LastIndex(text, "; "); i > 0 {
			return text[:i], text[i+2:]
		}
	}
	return text, "mend what the message names"
}

// look is one container under examination.
type look struct {
	*checker
	spot    spot
	in      launch.Instance
	name    string
	prefix  string // of what, where a plan has several containers
	mu      sync.Mutex
	results []Result
}

func (l *look) say(g Group, grade Grade, what, finding, remedy string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g != Container {
		what = l.prefix + what
	}
	l.results = append(l.results, Result{g, grade, what, clip(finding), clip(remedy)})
}

// all asks everything at once and judges in order.
func (l *look) all(ctx context.Context) {
	servers := l.spot.servers[:min(len(l.spot.servers), maxPlaces)]
	if more := len(l.spot.servers) - maxPlaces; more > 0 {
		l.say(Server, Warn, "servers", fmt.Sprintf("%d more commands or environments were not looked at", more), "check them with --only")
	}
	answers := make([]answered, len(servers))
	var wait sync.WaitGroup
	for i, configs := range servers {
		q := questionOf(l.in, configs[0])
		q.Ports = l.ports(configs)
		a := &answers[i]
		real := !simulated(configs[0])
		wait.Go(func() { a.placeErr = l.ask(ctx, verbPlace, q, &a.place) })
		if i == 0 && l.needs() > 0 {
			wait.Go(func() { a.cardsErr = l.ask(ctx, verbCards, q, &a.cards) })
		}
		if real {
			wait.Go(func() { a.modelErr = l.ask(ctx, verbModel, q, &a.model) })
		}
		if real && asksPython(configs[0].Command) {
			wait.Go(func() { a.pythonErr = l.ask(ctx, verbInstall, q, &a.python) })
			wait.Go(func() { a.parserErr = l.ask(ctx, verbParser, q, &a.parser) })
		}
	}
	wait.Wait()
	if answers[0].placeErr != nil {
		l.say(Container, Fail, l.name, "it does not answer: "+answers[0].placeErr.Error(), "")
		return
	}
	l.judgeCards(answers[0])
	l.judgeRoom(answers[0].place)
	for i, configs := range servers {
		l.judgePorts(answers[i].place)
		l.judgeServer(configs, answers[i])
	}
}

// needs is how many GPUs the largest server of this container takes.
func (l *look) needs() int {
	n, _ := mostCards(slices.Concat(l.spot.servers...))
	return n
}

// ports are those that servers of these configurations will listen on.
func (l *look) ports(configs []sweep.Configuration) []int {
	var ports []int
	for _, r := range l.plan.Runs {
		if slices.ContainsFunc(configs, func(c sweep.Configuration) bool { return c.ID == r.Config }) {
			ports = append(ports, r.Port)
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

// answered is what one server's place said.
type answered struct {
	place  Place
	cards  Cards
	model  Model
	python Python
	parser Parser

	placeErr, cardsErr, modelErr, pythonErr, parserErr error
}

func (l *look) ask(ctx context.Context, verb string, q Question, into any) error {
	return Ask(ctx, l.rt, l.in, verb, q, into)
}

// Ask asks a question where servers run; verb is one of `sweep facts`.
func Ask(ctx context.Context, rt launch.Runtime, in launch.Instance, verb string, q Question, into any) error {
	text, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("ask %s: %w", in.Name, err)
	}
	bound := lookTime
	if at, ok := ctx.Deadline(); ok {
		bound = min(bound, max(time.Until(at), time.Second))
	}
	res, err := rt.Exec(ctx, in, launch.Cmd{Argv: []string{in.Bin, "facts", verb}, Stdin: bytes.NewReader(text), Again: true, Bound: bound})
	switch {
	case ctx.Err() != nil:
		return errors.New("no answer in time")
	case err != nil:
		return fmt.Errorf("ask in %s: %w", in.Name, err)
	case res.Code != 0:
		return fmt.Errorf("ask in %s: exit %d: %s", in.Name, res.Code, lastLine(string(res.Stderr)))
	}
	if err := json.Unmarshal(res.Stdout, into); err != nil {
		return fmt.Errorf("ask in %s: an answer that is none: %w", in.Name, err)
	}
	return nil
}

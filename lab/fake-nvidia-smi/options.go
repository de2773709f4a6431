package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

type options struct {
	gpus, apps    []string // fields asked for; nil when not asked
	list          bool
	header, units bool
	ids           []string // index, UUID or bus; none is all
	every         time.Duration
}

var errUsage = errors.New("usage")

func parse(args []string) (options, error) {
	o := options{header: true, units: true}
	for len(args) > 0 {
		name, value, given := strings.Cut(args[0], "=")
		args = args[1:]
		if name == "-L" || name == "--list-gpus" {
			o.list = true
			continue
		}
		if !given {
			if len(args) == 0 {
				return o, errUsage
			}
			value, args = args[0], args[1:]
		}
		words := strings.Split(value, ",")
		for i := range words {
			words[i] = strings.TrimSpace(words[i])
		}
		switch name {
		case "--query-gpu":
			o.gpus = words
		case "--query-compute-apps":
			o.apps = words
		case "--format":
			if !slices.Contains(words, "csv") {
				return o, errUsage
			}
			o.header = !slices.Contains(words, "noheader")
			o.units = !slices.Contains(words, "nounits")
		case "-i", "--id":
			o.ids = words
		case "-l", "--loop", "-lms", "--loop-ms":
			n, err := strconv.Atoi(value)
			if err != nil || n <= 0 {
				return o, errUsage
			}
			o.every = time.Duration(n) * time.Second
			if strings.HasSuffix(name, "ms") {
				o.every = time.Duration(n) * time.Millisecond
			}
		default:
			return o, errUsage
		}
	}
	return o, nil
}

// wants tells whether the card with this index is asked for.
func (o options) wants(s state, index int) bool {
	if len(o.ids) == 0 {
		return true
	}
	for _, id := range o.ids {
		if id == strconv.Itoa(index) || id == s.GPUs[index].UUID || strings.EqualFold(id, s.GPUs[index].BusID) {
			return true
		}
	}
	return false
}

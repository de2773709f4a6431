package sim

import (
	"fmt"
	"strconv"
	"strings"
)

// logFormat is the sglang version whose log the simulator writes.
const logFormat = "0.5.10.post1"

// options are the simulator's own flags.
type options struct {
	preset       string
	timeScale    float64 // start-up and steps run this many times faster
	startupScale float64 // start-up alone, on top
	noise        float64 // percent
	noiseSeed    *uint64 // nil: real entropy
	version      string  // of sglang, for the log and /server_info
	fault        fault
}

// splitOptions takes the simulator's flags out of argv; what is left is
// sglang's. Simulator flags are recognised by their full names only, so that
// they never get in the way of argparse's abbreviations.
func splitOptions(argv []string) (options, []string, error) {
	o := options{preset: "glm5", timeScale: 1, startupScale: 1, version: logFormat}
	var rest []string
	for i := 0; i < len(argv); i++ {
		name, value, inline := strings.Cut(argv[i], "=")
		set := o.setter(name)
		if set == nil {
			rest = append(rest, argv[i])
			continue
		}
		if !inline {
			if i++; i >= len(argv) {
				return o, nil, fmt.Errorf("argument %s: expected one argument", name)
			}
			value = argv[i]
		}
		if err := set(value); err != nil {
			return o, nil, fmt.Errorf("argument %s: %w", name, err)
		}
	}
	return o, rest, nil
}

// setter returns what a simulator flag does with its value, nil for any other
// word.
func (o *options) setter(name string) func(string) error {
	switch name {
	case "--preset":
		return func(v string) error {
			o.preset = v
			_, err := Preset(v)
			return err
		}
	case "--time-scale":
		return positive(&o.timeScale)
	case "--startup-scale":
		return positive(&o.startupScale)
	case "--noise":
		return func(v string) (err error) {
			o.noise, err = strconv.ParseFloat(v, 64)
			if err != nil || !(o.noise >= 0 && o.noise <= 100) {
				return fmt.Errorf("invalid value: %q is not a percentage from 0 to 100", v)
			}
			return nil
		}
	case "--noise-seed":
		return func(v string) error {
			seed, err := strconv.ParseUint(v, 10, 64)
			if err != nil {
				return fmt.Errorf("invalid value: %q is not a whole number", v)
			}
			o.noiseSeed = &seed
			return nil
		}
	case "--log-format-version":
		return func(v string) error {
			if v != logFormat {
				return fmt.Errorf("invalid choice: %q (only %s can be written so far)", v, logFormat)
			}
			return nil
		}
	case "--fault":
		return func(v string) (err error) {
			o.fault, err = parseFault(v)
			return err
		}
	}
	return nil
}

func positive(dst *float64) func(string) error {
	return func(v string) error {
		f, err := strconv.ParseFloat(v, 64)
		if err != nil || !(f > 0 && f <= 1e6) {
			return fmt.Errorf("invalid value: %q is not a factor above 0", v)
		}
		*dst = f
		return nil
	}
}

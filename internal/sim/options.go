package sim

import (
	"fmt"
	"strconv"
	"strings"
)

// options are the simulator's own flags.
type options struct {
	preset       string
	timeScale    float64 // start-up and steps run this many times faster
	startupScale float64 // start-up alone, on top
	noise        float64 // percent
	noiseSeed    *uint64 // nil: real entropy
	version      string  // of sglang, without a leading v
	faults       faults
}

// splitOptions takes the simulator's flags out of argv; what is left is
// sglang's. Simulator flags are recognised by their full names only, so that
// they never get in the way of argparse's abbreviations.
func splitOptions(argv []string) (options, []string, error) {
	o := options{preset: "glm5", timeScale: 1, startupScale: 1, version: defaultVersion}
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
	case "--sglang-version", "--log-format-version":
		return func(v string) error {
			d, err := parseVersion(v)
			o.version = d.version
			return err
		}
	case "--fault":
		return o.faults.parse
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

// simulatorUsage is what `sweep sim --help` shows before argparse's usage.
func simulatorUsage() string {
	return `usage: sweep sim [--preset {glm5,small,fixed}] [--time-scale F] [--startup-scale F]
                 [--noise PERCENT] [--noise-seed N] [--sglang-version V]
                 [--fault NAME[:ARG]]... SGLANG-FLAGS...

A simulated sglang server: sglang's flags, log and API with the timing of a model
of a GPU server. No GPU is used and no figure of it is a measurement.

Presets: glm5 is GLM-5-NVFP4 on 8 RTX PRO 6000, small an 8B model on one GPU,
fixed one pace whatever the load.
Versions of sglang: ` + strings.Join(versions(), " ") + "\n(" + defaultVersion + ` is the default; --log-format-version is another name of the flag).

` + faultUsage() + "\n"
}

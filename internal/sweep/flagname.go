package sweep

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	flagPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	envPattern  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// fullName is the long name of a flag that has a shorter or older spelling, as
// sglang's own argument parser declares its aliases and as argparse completes
// the usual abbreviations. One spelling keeps two axes from setting one flag.
func fullName(name string) string {
	switch name {
	case "tp", "tensor-parallel-size":
		return "tp-size"
	case "dp", "data-parallel-size":
		return "dp-size"
	case "ep", "expert-parallel-size":
		return "ep-size"
	case "pipeline-parallel-size":
		return "pp-size"
	case "attention-context-parallel-size":
		return "attn-cp-size"
	case "moe-data-parallel-size":
		return "moe-dp-size"
	case "decode-context-parallel-size":
		return "dcp-size"
	case "model":
		return "model-path"
	case "nccl-init-addr":
		return "dist-init-addr"
	case "speculative-draft-model":
		return "speculative-draft-model-path"
	}
	return name
}

// hasNoTwin tells whether sglang declares --no-NAME beside --NAME (argparse's
// BooleanOptionalAction). All other switches have no off form: off is absent.
func hasNoTwin(name string) bool {
	switch name {
	case "experts-shared-outer-loras", "lora-strict-loading", "record-nolora-graph", "dllm-fdfo", "dcp-replicate-q-proj":
		return true
	}
	return false
}

// switchOf is the switch that turns a feature off (or on) which has no flag of
// its own name. `radix-cache: false` would otherwise be left out, and the
// cache that a person believes off stays on.
func switchOf(name string) string {
	switch name {
	case "radix-cache", "cuda-graph", "cuda-graph-padding", "custom-all-reduce", "overlap-schedule",
		"flashinfer-autotune", "shared-experts-fusion":
		return "disable-" + name
	case "metrics", "mixed-chunk", "dp-attention", "torch-compile":
		return "enable-" + name
	}
	return ""
}

// flagName reads a flag's name and completes it, with a warning where that
// changed it.
func (d *decoder) flagName(n *yaml.Node, written string) (string, bool) {
	dashed := strings.ReplaceAll(written, "_", "-")
	name := fullName(dashed)
	switch {
	case strings.HasPrefix(written, "-"):
		d.problem(n, "write it without the leading dashes: "+quote(strings.TrimLeft(written, "-")), "the flag %s has leading dashes", quote(written))
	case len(written) > 2*maxName:
		d.problem(n, "check the spelling", "the flag %s is %d bytes long", quote(written), len(written))
	case !flagPattern.MatchString(dashed):
		d.problem(n, "a flag is its long name: small letters, digits and dashes, like tp-size", "%s cannot be a flag", quote(written))
	case dashed == "host" || dashed == "port":
		d.problem(n, "remove it; server: {base-port: …} moves the ports", "%s belongs to sweep, which plans where each server listens", dashed)
	case dashed == "pp":
		d.problem(n, "write pp-size, pp-max-micro-batch-size or pp-async-batch-depth", "the flag pp is ambiguous")
	case switchOf(dashed) != "":
		d.problem(n, "write "+switchOf(dashed)+": true, or leave it out", "sglang has no flag %s", dashed)
	default:
		if c := d.complete(name); c.full != "" {
			name = c.full
		} else if len(c.candidates) > 1 {
			d.problem(n, "write "+orList(c.candidates), "the flag %s is ambiguous", written)
			return "", false
		}
		if name != written {
			d.warn(n, "the flag %s is written as %s", written, name)
		}
		return name, true
	}
	return "", false
}

func (d *decoder) envName(n *yaml.Node) bool {
	if len(n.Value) > 4*maxName || !envPattern.MatchString(n.Value) {
		d.problem(n, "letters, digits and _, not beginning with a digit", "%s cannot be a variable", quote(n.Value))
		return false
	}
	return true
}

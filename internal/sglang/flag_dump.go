package sglang

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// DumpTimeout bounds DumpCommand: importing sglang means importing torch, from
// a disk that may be cold.
const DumpTimeout = 2 * time.Minute

// MaxFlagDump bounds what is read of a dump, in bytes. A real one has 150 kB.
const MaxFlagDump = 4 << 20

const (
	maxDumpFlags = 4000
	maxDumpNames = 16   // of one flag
	maxDumpList  = 1000 // choices of one flag
)

// DumpScript prints, in Python, what the installed sglang's own argument parser
// accepts, as one line of JSON with sglang's version. It starts no server and
// needs no GPU, and it says nothing of values that depend on the model.
const DumpScript = `import sys
sys.path = [p for p in sys.path if p]
out, sys.stdout = sys.stdout, sys.stderr
import argparse, json
from sglang.srt.server_args import ServerArgs
try:
    from importlib.metadata import version
    release = version("sglang")
except Exception:
    import sglang
    release = getattr(sglang, "__version__", "")
parser = argparse.ArgumentParser()
ServerArgs.add_cli_args(parser)
def plain(x):
    return x if x is None or isinstance(x, (bool, int, float, str)) else repr(x)
flags = []
for a in parser._actions:
    if a.option_strings:
        flags.append({
            "names": list(a.option_strings),
            "action": type(a).__name__,
            "type": None if a.type is None else getattr(a.type, "__name__", repr(a.type)),
            "nargs": a.nargs,
            "choices": None if a.choices is None else [plain(c) for c in a.choices],
            "default": plain(a.default),
            "required": bool(a.required),
            "instead": plain(getattr(a, "new_flag", None)),
        })
out.write("\n" + json.dumps({"sglang": release, "flags": flags}) + "\n")
`

// DumpCommand is the command whose output ParseFlagDump reads. interpreter is
// the Python that sglang is installed for. The script leaves the current
// directory out, where a file named like a module could take its place. Give it
// DumpTimeout.
func DumpCommand(interpreter string) []string {
	return []string{interpreter, "-c", DumpScript}
}

// ParseFlagDump reads what DumpCommand printed, or a plain JSON array of the
// same flags. It is output of a program in a container: bounded, and nothing
// in it is shown without being cleaned. Lines around the JSON are skipped.
func ParseFlagDump(output []byte) (*FlagSet, error) {
	if len(output) > MaxFlagDump {
		return nil, fmt.Errorf("read the flags of the installed sglang: the output has %d bytes, more than %d", len(output), MaxFlagDump)
	}
	var dump struct {
		Version string    `json:"sglang"`
		Flags   []rawFlag `json:"flags"`
	}
	text := bytes.TrimSpace(output)
	if i := bytes.LastIndex(output, []byte("\n{\"sglang\":")); i >= 0 {
		text, _, _ = bytes.Cut(output[i+1:], []byte("\n"))
	}
	var err error
	if bytes.HasPrefix(text, []byte("[")) {
		err = json.Unmarshal(text, &dump.Flags)
	} else {
		err = json.Unmarshal(text, &dump)
	}
	if err != nil {
		return nil, fmt.Errorf("read the flags of the installed sglang: %w", err)
	}
	if len(dump.Flags) > maxDumpFlags {
		return nil, fmt.Errorf("read the flags of the installed sglang: %d flags, more than %d", len(dump.Flags), maxDumpFlags)
	}
	var flags []Flag
	seen := map[string]bool{}
	for _, raw := range dump.Flags {
		f, ok := raw.flag()
		if !ok || seen[f.Names[0]] {
			continue
		}
		seen[f.Names[0]] = true
		flags = append(flags, f)
	}
	if len(flags) == 0 {
		return nil, errors.New("read the flags of the installed sglang: there are none in the output")
	}
	fs := newFlagSet(strings.TrimPrefix(cut(Plain(dump.Version), maxKept), "v"), flags)
	fs.Installed = true
	return fs, nil
}

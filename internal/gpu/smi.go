package gpu

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Commander runs a short command on the host and returns its standard output
// and exit code. An error means that the command could not be run to its end
// (not found, deadline); a command that failed has a code and no error.
type Commander interface {
	Run(ctx context.Context, argv ...string) (stdout []byte, code int, err error)
}

// QueryTimeout bounds one call of nvidia-smi. Discovery inside containers has
// been seen to take over 30 s now and then, so it is generous.
const QueryTimeout = 45 * time.Second

// answerTime is what an nvidia-smi that is well may take.
const answerTime = 10 * time.Second

// Snapshot is what nvidia-smi said at one moment.
type Snapshot struct {
	GPUs      []GPU
	Processes []Process
	Driver    string
	Note      string // why GPUs is empty; "" otherwise
}

// basicFields are what Look asks for, detailFields what Facts asks for beside
// them.
var (
	basicFields  = []string{"index", "uuid", "name", "memory.used", "memory.total", "driver_version"}
	detailFields = []string{"pci.bus_id", "vbios_version", "power.limit", "clocks.max.sm", "pcie.link.gen.max",
		"pcie.link.width.current", "pcie.link.width.max", "persistence_mode"}
)

// Look asks nvidia-smi for cards and compute processes. It never fails: what
// could not be read is said in Note. A timeout is tried once more.
func Look(ctx context.Context, c Commander) Snapshot { return look(ctx, c, basicFields) }

// Facts is Look with what lasts of each card: its firmware, limits and link.
// Where the longer question has no readable answer, Look's still may.
func Facts(ctx context.Context, c Commander) Snapshot {
	s := look(ctx, c, slices.Concat(basicFields, detailFields))
	if strings.HasPrefix(s.Note, unreadable) {
		return Look(ctx, c)
	}
	return s
}

// unreadable begins the note about an answer that is none.
const unreadable = "nvidia-smi: unreadable answer"

func look(ctx context.Context, c Commander, fields []string) Snapshot {
	rows, note := query(ctx, c, "gpu", fields)
	if note != "" {
		return Snapshot{Note: note}
	}
	s := Snapshot{}
	for _, r := range rows {
		index, err := strconv.Atoi(r["index"])
		if err != nil {
			return Snapshot{Note: fmt.Sprintf("nvidia-smi: unreadable card index %q", clip(r["index"]))}
		}
		s.GPUs = append(s.GPUs, GPU{Index: index, UUID: r["uuid"], Name: r["name"], MemoryUsed: number(r["memory.used"]), MemoryTotal: number(r["memory.total"]),
			BusID: word(r["pci.bus_id"]), VBIOS: word(r["vbios_version"]), PowerLimit: decimal(r["power.limit"]), MaxSMClock: number(r["clocks.max.sm"]),
			PCIeGenMax: number(r["pcie.link.gen.max"]), PCIeWidth: number(r["pcie.link.width.current"]), PCIeWidthMax: number(r["pcie.link.width.max"]),
			Persistence: word(r["persistence_mode"])})
		s.Driver = word(r["driver_version"])
	}
	if len(s.GPUs) == 0 {
		return Snapshot{Note: "nvidia-smi lists no GPU"}
	}
	rows, note = query(ctx, c, "compute-apps", []string{"pid", "gpu_uuid", "used_memory", "process_name"})
	if note != "" {
		s.Note = note
		return s
	}
	for _, r := range rows {
		pid, err := strconv.Atoi(r["pid"])
		if err != nil {
			continue // "[Insufficient Permissions]" in a container: the memory tells all the same
		}
		s.Processes = append(s.Processes, Process{PID: pid, GPU: r["gpu_uuid"], MemoryUsed: number(r["used_memory"]), Name: r["process_name"]})
	}
	return s
}

// unknownField is what nvidia-smi says of a field that its driver does not have.
var unknownField = regexp.MustCompile(`Field "([^"]+)" is not a valid field to query`)

// query asks nvidia-smi for fields and returns the rows by field, or a sentence
// that says why there are none. A field that this driver does not know is left
// out, and not the others with it.
func query(ctx context.Context, c Commander, what string, fields []string) ([]map[string]string, string) {
	for {
		out, code, note := ask(ctx, c, "nvidia-smi", "--query-"+what+"="+strings.Join(fields, ","), "--format=csv,noheader,nounits")
		if unknown := unknownField.FindSubmatch(out); code != 0 && unknown != nil && len(fields) > 1 {
			fewer := slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return f == string(unknown[1]) })
			if len(fewer) < len(fields) {
				fields = fewer
				continue
			}
		}
		if note != "" {
			return nil, note
		}
		return rowsOf(out, fields)
	}
}

func rowsOf(out []byte, fields []string) ([]map[string]string, string) {
	r := csv.NewReader(strings.NewReader(string(out)))
	r.TrimLeadingSpace = true
	r.FieldsPerRecord = len(fields)
	r.LazyQuotes = true
	records, err := r.ReadAll()
	if err != nil {
		return nil, unreadable + ": " + clip(err.Error())
	}
	rows := make([]map[string]string, len(records))
	for i, record := range records {
		rows[i] = map[string]string{}
		for at, name := range fields {
			rows[i][name] = clip(record[at])
		}
	}
	return rows, ""
}

// ask runs nvidia-smi; one that does not answer in time is tried once more.
// Where the caller has less time than two tries take, each gets about half of
// it, unless that is too short to answer in.
func ask(ctx context.Context, c Commander, argv ...string) (out []byte, code int, note string) {
	bound := QueryTimeout
	if at, ok := ctx.Deadline(); ok && time.Until(at) > 2*answerTime {
		bound = min(bound, time.Until(at)/2-time.Second) // the caller is told of the second, too
	}
	var err error
	for range 2 {
		call, cancel := context.WithTimeout(ctx, bound)
		out, code, err = c.Run(call, argv...)
		timedOut := call.Err() == context.DeadlineExceeded && ctx.Err() == nil
		cancel()
		if !timedOut {
			break
		}
		err = fmt.Errorf("no answer within %s, twice; a lost GPU can hang it", bound.Round(time.Second))
	}
	if err != nil {
		return out, -1, "nvidia-smi: " + clip(err.Error())
	}
	if code != 0 {
		return out, code, fmt.Sprintf("nvidia-smi: exit %d (%s): %s", code, meaning(code), clip(string(out)))
	}
	return out, 0, ""
}

// cudaVersion is how nvidia-smi's own header names the newest CUDA that the
// driver supports.
var cudaVersion = regexp.MustCompile(`CUDA (?:UMD )?Version: *([0-9]+\.[0-9]+)`)

// CUDA is the newest CUDA that the driver supports, "13.0", or why it is not
// known.
func CUDA(ctx context.Context, c Commander) (version, note string) {
	out, _, note := ask(ctx, c, "nvidia-smi")
	if note != "" {
		return "", note
	}
	if m := cudaVersion.FindSubmatch(out); m != nil {
		return string(m[1]), ""
	}
	return "", "nvidia-smi does not say"
}

// meaning names the return codes of nvidia-smi, which are NVML's.
func meaning(code int) string {
	switch code {
	case 2:
		return "invalid argument"
	case 6:
		return "no device found"
	case 9:
		return "driver not loaded"
	case 15:
		return "a GPU is lost: power-cycle the host"
	case 18:
		return "driver and library versions differ: reboot the host or update the container"
	default:
		return "NVML return code"
	}
}

func number(s string) *int64 {
	v, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || v < 0 {
		return nil // "[N/A]", "[Not Supported]", …
	}
	return &v
}

// decimal is number for values with a fraction, such as watts.
func decimal(s string) *float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// word is a value that is a word; "" for "[N/A]" and the like.
func word(s string) string {
	if strings.HasPrefix(s, "[") {
		return ""
	}
	return s
}

// clip makes a word of a foreign program fit to be shown.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			return ' '
		}
		return r
	}, strings.TrimSpace(s))
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

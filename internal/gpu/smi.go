package gpu

import (
	"context"
	"encoding/csv"
	"fmt"
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

// Snapshot is what nvidia-smi said at one moment.
type Snapshot struct {
	GPUs      []GPU
	Processes []Process
	Driver    string
	Note      string // why GPUs is empty; "" otherwise
}

// Look asks nvidia-smi for cards and compute processes. It never fails: what
// could not be read is said in Note. A timeout is tried once more.
func Look(ctx context.Context, c Commander) Snapshot {
	rows, note := query(ctx, c, "--query-gpu=index,uuid,name,memory.used,memory.total,driver_version", 6)
	if note != "" {
		return Snapshot{Note: note}
	}
	s := Snapshot{}
	for _, r := range rows {
		index, err := strconv.Atoi(r[0])
		if err != nil {
			return Snapshot{Note: fmt.Sprintf("nvidia-smi: unreadable card index %q", clip(r[0]))}
		}
		s.GPUs = append(s.GPUs, GPU{Index: index, UUID: r[1], Name: r[2], MemoryUsed: number(r[3]), MemoryTotal: number(r[4])})
		s.Driver = r[5]
	}
	if len(s.GPUs) == 0 {
		return Snapshot{Note: "nvidia-smi lists no GPU"}
	}
	rows, note = query(ctx, c, "--query-compute-apps=pid,gpu_uuid,used_memory,process_name", 4)
	if note != "" {
		s.Note = note
		return s
	}
	for _, r := range rows {
		pid, err := strconv.Atoi(r[0])
		if err != nil {
			continue // "[Insufficient Permissions]" in a container: the memory tells all the same
		}
		s.Processes = append(s.Processes, Process{PID: pid, GPU: r[1], MemoryUsed: number(r[2]), Name: r[3]})
	}
	return s
}

// query returns the rows of one nvidia-smi call, each with the given number of
// fields, or a sentence that says why there are none.
func query(ctx context.Context, c Commander, what string, fields int) ([][]string, string) {
	argv := []string{"nvidia-smi", what, "--format=csv,noheader,nounits"}
	var out []byte
	var code int
	var err error
	for range 2 {
		call, cancel := context.WithTimeout(ctx, QueryTimeout)
		out, code, err = c.Run(call, argv...)
		timedOut := call.Err() == context.DeadlineExceeded && ctx.Err() == nil
		cancel()
		if !timedOut {
			break
		}
		err = fmt.Errorf("no answer within %s, twice; a lost GPU can hang it", QueryTimeout)
	}
	if err != nil {
		return nil, "nvidia-smi: " + clip(err.Error())
	}
	if code != 0 {
		return nil, fmt.Sprintf("nvidia-smi: exit %d (%s): %s", code, meaning(code), clip(string(out)))
	}
	r := csv.NewReader(strings.NewReader(string(out)))
	r.TrimLeadingSpace = true
	r.FieldsPerRecord = fields
	r.LazyQuotes = true
	rows, err := r.ReadAll()
	if err != nil {
		return nil, "nvidia-smi: unreadable answer: " + clip(err.Error())
	}
	for _, row := range rows {
		for i := range row {
			row[i] = clip(row[i])
		}
	}
	return rows, ""
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

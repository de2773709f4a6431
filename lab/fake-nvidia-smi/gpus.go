package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// field is one column: how the header names it, the value, and the value's unit.
type field struct{ header, value, unit string }

func printGPUs(w io.Writer, s state, o options, header bool) int {
	var headers []string
	for _, name := range o.gpus {
		f, known := gpuField(s, 0, card{}, name)
		if !known {
			return unknownField(w, name)
		}
		headers = append(headers, f.header)
	}
	if header {
		fmt.Fprintln(w, strings.Join(headers, ", "))
	}
	for i, g := range s.GPUs {
		if !o.wants(s, i) {
			continue
		}
		if g.Lost {
			fmt.Fprintf(w, "Unable to determine the device handle for GPU%d: %s: GPU is lost.  Reboot the system to recover this GPU\n\n", i, g.BusID)
			return 15
		}
		var row []string
		for _, name := range o.gpus {
			f, _ := gpuField(s, i, g, name)
			row = append(row, f.text(o, g.Override, name))
		}
		fmt.Fprintln(w, strings.Join(row, ", "))
	}
	return 0
}

func unknownField(w io.Writer, name string) int {
	fmt.Fprintf(w, "Field \"%s\" is not a valid field to query.\n\n", name)
	return 2
}

// text is what stands in the row.
func (f field) text(o options, override map[string]string, name string) string {
	if raw, ok := override[name]; ok {
		return raw
	}
	if f.unit != "" && o.units {
		return f.value + " " + f.unit
	}
	return f.value
}

func gpuField(s state, index int, g card, name string) (field, bool) {
	number := strconv.Itoa
	watts := func(v float64) field { return field{name + " [W]", fmt.Sprintf("%.2f", v), "W"} }
	mask := fmt.Sprintf("0x%016X", g.Throttle)
	switch name {
	case "index":
		return field{name, number(index), ""}, true
	case "count":
		return field{name, number(len(s.GPUs)), ""}, true
	case "timestamp":
		return field{name, time.Now().Format("2006/01/02 15:04:05.000"), ""}, true
	case "driver_version":
		return field{name, s.Driver, ""}, true
	case "uuid", "gpu_uuid":
		return field{"uuid", g.UUID, ""}, true
	case "name", "gpu_name":
		return field{"name", g.Name, ""}, true
	case "pci.bus_id", "gpu_bus_id":
		return field{"pci.bus_id", g.BusID, ""}, true
	case "memory.total":
		return field{"memory.total [MiB]", number(g.MemTotal), "MiB"}, true
	case "memory.used":
		return field{"memory.used [MiB]", number(g.MemUsed), "MiB"}, true
	case "memory.free":
		return field{"memory.free [MiB]", number(g.MemTotal - g.MemUsed), "MiB"}, true
	case "power.draw", "power.draw.instant", "power.draw.average":
		return watts(g.Power), true
	case "power.limit", "enforced.power.limit":
		return watts(g.PowerLimit), true
	case "temperature.gpu":
		return field{name, number(g.Temp), ""}, true
	case "clocks.sm", "clocks.current.sm":
		return field{"clocks.current.sm [MHz]", number(g.SM), "MHz"}, true
	case "clocks.max.sm":
		return field{"clocks.max.sm [MHz]", number(g.SMMax), "MHz"}, true
	case "utilization.gpu":
		return field{"utilization.gpu [%]", number(g.Util), "%"}, true
	case "utilization.memory":
		return field{"utilization.memory [%]", number(g.MemUtil), "%"}, true
	case "clocks_throttle_reasons.active":
		if s.Old {
			return field{name, mask, ""}, true
		}
		return field{"clocks_event_reasons.active", mask, ""}, !s.New
	case "clocks_event_reasons.active":
		return field{name, mask, ""}, !s.Old
	}
	return field{}, false
}

package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

func printApps(w io.Writer, s state, o options, header bool) int {
	var headers []string
	for _, name := range o.apps {
		f, known := appField(card{}, app{}, name)
		if !known {
			return unknownField(w, name)
		}
		headers = append(headers, f.header)
	}
	if header {
		fmt.Fprintln(w, strings.Join(headers, ", "))
	}
	if s.PidNS == "hidden" {
		return 0
	}
	for _, a := range s.Apps {
		if a.GPU < 0 || a.GPU >= len(s.GPUs) || !o.wants(s, a.GPU) {
			continue
		}
		var row []string
		for _, name := range o.apps {
			f, _ := appField(s.GPUs[a.GPU], a, name)
			row = append(row, f.text(o, a.Override, name))
		}
		fmt.Fprintln(w, strings.Join(row, ", "))
	}
	return 0
}

func appField(g card, a app, name string) (field, bool) {
	switch name {
	case "pid":
		return field{name, strconv.Itoa(a.PID), ""}, true
	case "process_name", "name":
		return field{"process_name", a.Name, ""}, true
	case "used_memory", "used_gpu_memory":
		return field{"used_gpu_memory [MiB]", strconv.Itoa(a.Mem), "MiB"}, true
	case "gpu_uuid":
		return field{name, g.UUID, ""}, true
	case "gpu_name":
		return field{name, g.Name, ""}, true
	case "gpu_bus_id":
		return field{name, g.BusID, ""}, true
	}
	return field{}, false
}

package main

import (
	"strings"
	"testing"
)

func twoCards() state {
	return state{
		Driver: "580.1",
		GPUs: []card{
			{UUID: "GPU-a", Name: "NVIDIA H200", BusID: "0:10", MemTotal: 143771, MemUsed: 1, Power: 76.4, Throttle: 1},
			{UUID: "GPU-b", Name: "NVIDIA H200", BusID: "0:20", MemTotal: 143771, MemUsed: 9, Override: map[string]string{"power.draw": "[N/A]"}},
		},
		Apps: []app{{GPU: 1, PID: 4711, Name: "sglang::scheduler_TP0", Mem: 8}},
	}
}

func TestSample(t *testing.T) {
	lost, old, newest, hidden := twoCards(), twoCards(), twoCards(), twoCards()
	lost.GPUs[1].Lost, old.Old, newest.New, hidden.PidNS = true, true, true, "hidden"
	const bare = "--format=csv,noheader,nounits"
	for _, c := range []struct {
		name string
		s    state
		args []string
		code int
		want string
	}{
		{"cards", twoCards(), []string{"--query-gpu=index,uuid,memory.used,driver_version", bare}, 0, "0, GPU-a, 1, 580.1\n1, GPU-b, 9, 580.1\n"},
		{"header and units", twoCards(), []string{"--query-gpu", "index, memory.used", "--format=csv", "-i", "0"}, 0, "index, memory.used [MiB]\n0, 1 MiB\n"},
		{"one value unknown", twoCards(), []string{"--query-gpu=power.draw", bare}, 0, "76.40\n[N/A]\n"},
		{"processes", twoCards(), []string{"--query-compute-apps=pid,gpu_uuid,used_memory,process_name", bare}, 0, "4711, GPU-b, 8, sglang::scheduler_TP0\n"},
		{"processes of another card", twoCards(), []string{"--query-compute-apps=pid", bare, "--id=GPU-a"}, 0, ""},
		{"processes in a container", hidden, []string{"--query-compute-apps=pid", bare}, 0, ""},
		{"list", twoCards(), []string{"-L"}, 0, "GPU 0: NVIDIA H200 (UUID: GPU-a)\nGPU 1: NVIDIA H200 (UUID: GPU-b)\n"},
		{"old driver", old, []string{"--query-gpu=clocks_event_reasons.active", bare}, 2, "is not a valid field"},
		{"newest driver", newest, []string{"--query-gpu=clocks_throttle_reasons.active", bare}, 2, "is not a valid field"},
		{"both spellings", twoCards(), []string{"--query-gpu=clocks_throttle_reasons.active", bare, "-i", "0"}, 0, "0x0000000000000001\n"},
		{"lost", lost, []string{"--query-gpu=index", bare}, 15, "GPU is lost"},
		{"no driver", state{Mode: "nodriver"}, []string{"-L"}, 9, "has failed"},
		{"mismatch", state{Mode: "mismatch"}, []string{"-L"}, 18, "version mismatch"},
		{"no devices", state{Mode: "nodevices"}, []string{"-L"}, 6, "No devices"},
		{"unknown error", state{Mode: "unknown"}, []string{"-L"}, 255, "Unknown Error"},
		{"garbage", state{Mode: "garbage"}, []string{"-L"}, 0, "\x00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := parse(c.args)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			code := sample(&out, c.s, o, o.header)
			exact := code == 0 && c.s.Mode == ""
			if code != c.code || (exact && out.String() != c.want) || !strings.Contains(out.String(), c.want) {
				t.Errorf("code %d, output %q; want %d, %q", code, out.String(), c.code, c.want)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-q"}, {"--query-gpu"}, {"-l", "x"}, {"--query-gpu=index", "--format=xml"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
}

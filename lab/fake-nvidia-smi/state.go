package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// state is the JSON file.
type state struct {
	Mode   string // ok, nodriver, mismatch, nodevices, unknown, hang, garbage
	Driver string
	Old    bool   // an old driver knows clocks_throttle_reasons.* only; a new one both spellings
	New    bool   // a newest driver knows clocks_event_reasons.* only
	PidNS  string // "hidden": as in a container, where the process list is empty
	GPUs   []card
	Apps   []app
}

// card is one GPU.
type card struct {
	UUID, Name, BusID              string
	MemTotal, MemUsed              int               // MiB
	Power, PowerLimit              float64           // W
	Temp, SM, SMMax, Util, MemUtil int               // °C, MHz, MHz, %, %
	Throttle                       uint64            // bit mask of NVML's clocks event reasons
	Override                       map[string]string // field to raw text: "power.draw": "[N/A]"
	Lost                           bool
}

// app is a compute process on the card with index GPU.
type app struct {
	GPU, PID int
	Name     string
	Mem      int // MiB
	Override map[string]string
}

func statePath() string {
	if p := os.Getenv("FAKE_SMI"); p != "" {
		return p
	}
	if self, err := os.Executable(); err == nil {
		if p := filepath.Join(filepath.Dir(self), "nvidia-smi.json"); exists(p) {
			return p
		}
	}
	return "/etc/fake-smi.json"
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// load reads the file. A machine without one has no driver; a file that cannot
// be read as JSON is a mistake of the test and is said on standard error.
func load(path string) state {
	s := state{Driver: "580.126.20"}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "fake nvidia-smi: %v\n", err)
		s.Mode = "nodriver"
	}
	return s
}

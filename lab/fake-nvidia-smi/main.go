// Command nvidia-smi is a stand-in for tests without a GPU. What it shows is in
// a JSON file that is read again for every sample, so that a test can change it
// while a loop runs: $FAKE_SMI, or nvidia-smi.json beside the program, or
// /etc/fake-smi.json. Texts and codes are those of public examples of the real
// tool; codes are NVML's.
package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	o, err := parse(os.Args[1:])
	if err != nil {
		fmt.Print("Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n\n")
		os.Exit(1)
	}
	for first := true; ; first = false {
		s := load(statePath())
		if code := sample(os.Stdout, s, o, first && o.header); code != 0 || o.every == 0 {
			os.Exit(code)
		}
		time.Sleep(o.every)
	}
}

// sample prints what one look at the machine shows and returns the exit code.
// The real tool, too, says what failed on standard output.
func sample(w io.Writer, s state, o options, header bool) int {
	switch s.Mode {
	case "", "ok":
	case "nodriver":
		fmt.Fprint(w, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n\n")
		return 9
	case "mismatch":
		fmt.Fprint(w, "Failed to initialize NVML: Driver/library version mismatch\n")
		return 18
	case "nodevices":
		fmt.Fprint(w, "No devices were found\n")
		return 6
	case "unknown":
		fmt.Fprint(w, "Failed to initialize NVML: Unknown Error\n")
		return 255
	case "garbage":
		fmt.Fprint(w, "\x00\xff<<<\x1b[31m\n")
		return 0
	case "hang":
		for {
			time.Sleep(time.Hour)
		}
	default:
		fmt.Fprintf(os.Stderr, "fake nvidia-smi: unknown Mode %q\n", s.Mode)
		return 255
	}
	switch {
	case o.list:
		for i, g := range s.GPUs {
			fmt.Fprintf(w, "GPU %d: %s (UUID: %s)\n", i, g.Name, g.UUID)
		}
		return 0
	case o.gpus != nil:
		return printGPUs(w, s, o, header)
	case o.apps != nil:
		return printApps(w, s, o, header)
	}
	fmt.Fprintf(w, "NVIDIA-SMI %s (fake)\n", s.Driver)
	return 0
}

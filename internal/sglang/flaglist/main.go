// Command flaglist writes the flag lists that the binary carries, from what
// each release of sglang accepts:
//
//	python -c "$SCRIPT" > v0.5.10.post1.json       # sglang.DumpScript, once a release
//	go run ./internal/sglang/flaglist -o internal/sglang/flags.jsonl v*.json
//
// A file is named after its version. Besides dumps it reads arrays that were
// made from the source of a release, where nothing could be run: the same keys,
// expressions as the source has them.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sweep/internal/sglang"
)

func main() {
	out := flag.String("o", "internal/sglang/flags.jsonl", "where to write")
	flag.Parse()
	if err := run(*out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "flaglist:", err)
		os.Exit(1)
	}
}

func run(out string, files []string) error {
	var sets []*sglang.FlagSet
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read a list: %w", err)
		}
		fs, err := sglang.ParseFlagDump(data)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		fs.Version = strings.TrimPrefix(strings.TrimSuffix(filepath.Base(file), ".json"), "v")
		supplement(fs)
		sets = append(sets, fs)
	}
	slices.SortStableFunc(sets, func(a, b *sglang.FlagSet) int { return sglang.CompareVersions(a.Version, b.Version) })
	text, err := sglang.WriteFlagLists(sets)
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the lists: %w", err)
	}
	return nil
}

// supplement adds what a list made from the source leaves open and the source
// says elsewhere: the one required flag, and choices held in a variable.
func supplement(fs *sglang.FlagSet) {
	var quantizations []string
	for i := range fs.Flags {
		f := &fs.Flags[i]
		switch f.Name() {
		case "model-path":
			f.Required = true
		case "quantization":
			quantizations = f.Choices
		}
	}
	for i := range fs.Flags {
		f := &fs.Flags[i]
		if len(f.Choices) > 0 {
			continue
		}
		switch f.Name() {
		case "cuda-graph-backend-decode", "cuda-graph-backend-prefill": // Backend.ALL
			f.Choices = []string{"full", "breakable", "tc_piecewise", "disabled"}
		case "sampling-backend": // a set
			f.Choices = []string{"ascend", "flashinfer", "pytorch"}
		case "speculative-draft-model-quantization": // QUANTIZATION_CHOICES and unquant
			if len(quantizations) > 0 && !slices.Contains(quantizations, "unquant") {
				f.Choices = append(slices.Clone(quantizations), "unquant")
			}
		}
	}
}

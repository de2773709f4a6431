package remote

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kevinburke/ssh_config"
)

const (
	configSize  = 1 << 20 // bytes of one configuration file
	configDepth = 16      // Include inside Include, as ssh has it
)

// setting is one line of a configuration that applies to the host.
type setting struct {
	configLine
	file string
}

func (s setting) err(format string, args ...any) *ConfigError {
	return &ConfigError{File: s.file, Line: s.number, Text: fmt.Sprintf(format, args...)}
}

// configReader collects what the configuration files say about a host.
type configReader struct {
	names    []string // what Host patterns are compared with: the alias, and the address over it
	base     string   // directory of relative Include
	home     string
	settings []setting // in the order in which they win
	warnings []Warning
}

func (r *configReader) warn(file string, line int, format string, args ...any) {
	r.warnings = append(r.warnings, Warning{File: file, Line: line, Text: fmt.Sprintf(format, args...)})
}

// read takes in one file. A file that is not there says nothing.
func (r *configReader) read(file string, depth int) error {
	if depth > configDepth {
		return &ConfigError{File: file, Line: 1, Text: "Include is nested too deeply: does the file include itself?"}
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the SSH configuration: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, configSize+1))
	if err != nil {
		return fmt.Errorf("read the SSH configuration: %w", err)
	}
	if len(data) > configSize {
		return &ConfigError{File: file, Line: 1, Text: "the file is larger than 1 MiB"}
	}
	lines := splitConfig(string(data))
	blocks, err := r.blocks(file, lines)
	if err != nil {
		return err
	}
	for _, block := range blocks.Hosts {
		if !r.matches(block) {
			continue
		}
		for _, node := range block.Nodes {
			kv, ok := node.(*ssh_config.KV)
			if !ok {
				continue
			}
			s := setting{configLine: lines[kv.Pos().Line-1], file: file}
			if s.keyword != "include" {
				r.settings = append(r.settings, s)
				continue
			}
			if err := r.include(s, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *configReader) matches(block *ssh_config.Host) bool {
	for _, name := range r.names {
		if block.Matches(name) {
			return true
		}
	}
	return false
}

// blocks lets ssh_config find the Host blocks. It is given the Host lines and
// a stand-in for every other line: the library refuses a whole file for one
// Match that it cannot decide, cuts values at #, and follows Include to the
// real home directory only.
func (r *configReader) blocks(file string, lines []configLine) (*ssh_config.Config, error) {
	var text strings.Builder
	for _, line := range lines {
		at := setting{configLine: line, file: file}
		switch line.keyword {
		case "":
		case "host":
			patterns, err := words(line.value)
			if err != nil || len(patterns) == 0 {
				return nil, at.err("Host needs patterns, for example: Host gpu1")
			}
			text.WriteString("Host " + strings.Join(patterns, " "))
		case "match":
			patterns, ok := matchPatterns(line.value)
			if !ok {
				r.warn(file, line.number, "Match %s is not supported: its block is left out; use Host, or hosts.yaml", clean(line.value, 60))
				patterns = []string{"!*"}
			}
			text.WriteString("Host " + strings.Join(patterns, " "))
		default:
			text.WriteString("Setting x")
		}
		text.WriteByte('\n')
	}
	config, err := ssh_config.Decode(strings.NewReader(text.String()))
	if err != nil {
		return nil, fmt.Errorf("read the SSH configuration %s: %w", file, err)
	}
	return config, nil
}

func (r *configReader) include(s setting, depth int) error {
	patterns, err := words(s.value)
	if err != nil {
		return s.err("Include: %v", err)
	}
	for _, pattern := range patterns {
		if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
			pattern = filepath.Join(r.home, rest)
		}
		if !filepath.IsAbs(pattern) {
			pattern = filepath.Join(r.base, pattern)
		}
		files, err := filepath.Glob(pattern)
		if err != nil {
			return s.err("Include %s: %v", pattern, err)
		}
		for _, file := range files {
			if err := r.read(file, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

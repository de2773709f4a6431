package sweep

import (
	"bytes"
	"fmt"
	"strings"

	"sweep/internal/matrix"
)

// EnvFile reads a file of variables as systemd and docker write them: NAME=value
// lines, empty lines and lines that begin with # or ; are left out, a value may
// stand in one pair of single or double quotes. Nothing is expanded. Values may
// be secret, so that the error names the line and never the text.
func EnvFile(data []byte) ([]matrix.Setting, error) {
	var settings []matrix.Setting
	line := 0
	for text := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		line++
		entry := strings.TrimSpace(string(text))
		if entry == "" || entry[0] == '#' || entry[0] == ';' {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(entry, "export "), "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || !envPattern.MatchString(name) || strings.ContainsRune(value, 0) {
			return nil, fmt.Errorf("line %d is not NAME=value", line)
		}
		if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		settings = append(settings, matrix.Setting{Target: matrix.Env, Name: name,
			Value: matrix.Value{Kind: matrix.Word, Words: []string{value}}, Pos: matrix.Pos{Line: line, Column: 1}})
	}
	return settings, nil
}

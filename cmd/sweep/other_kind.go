package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
)

// kinds are files that are mistaken for sweep files, by how they begin.
var kinds = []struct{ magic, what string }{
	{"\x1f\x8b", "compressed (gzip)"}, {"\x28\xb5\x2f\xfd", "compressed (zstd)"}, {"\xfd7zXZ\x00", "compressed (xz)"},
	{"BZh", "compressed (bzip2)"}, {"PK\x03\x04", "a ZIP archive"}, {"\x7fELF", "a program"}, {"%PDF-", "a PDF document"},
	{"\x89PNG", "a picture"}, {"#!", "a script"}, {"SQLite format 3\x00", "a database"},
}

// otherKind says what a file is that is surely no sweep file; empty where it
// may be one, and then reading it says what is wrong with it.
func otherKind(name string, text []byte) string {
	for _, k := range kinds {
		if bytes.HasPrefix(text, []byte(k.magic)) {
			return k.what
		}
	}
	if bytes.IndexByte(text, 0) >= 0 && !bytes.HasPrefix(text, []byte("\xff\xfe")) && !bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return "a binary file"
	}
	switch base := filepath.Base(name); {
	case base == "hosts.yaml" && !bytes.Contains(append([]byte("\n"), text...), []byte("\nserver:")):
		return "what is known of hosts"
	case strings.HasSuffix(base, ".json") || strings.HasSuffix(base, ".jsonl"):
		return written(text)
	}
	return ""
}

// written says which of sweep's own files a JSON text is; empty for none: JSON
// is YAML too, and so may be a sweep file.
func written(text []byte) string {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	for _, part := range [][]byte{text, first} {
		var keys map[string]json.RawMessage
		if json.Unmarshal(part, &keys) != nil || keys["schema"] == nil {
			continue
		}
		switch {
		case keys["configurations"] != nil:
			return "the frozen plan of a night"
		case keys["attempt"] != nil && keys["argv"] != nil:
			return "the record of a run"
		case keys["seq"] != nil:
			return "the journal of a night"
		}
		return "a record of sweep's"
	}
	return ""
}

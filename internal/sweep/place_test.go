package sweep

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
)

// TestPlaces: each visible character of a scalar is found where it stands in
// the file, whatever way YAML has of writing it.
func TestPlaces(t *testing.T) {
	for name, text := range map[string]string{
		"plain":           "a: b c  d\n",
		"plain, folded":   "a: b c\n   d e\n\n   f\n",
		"single":          "a: 'it''s x'\n",
		"single, folded":  "a:   'b c\n\n  d ''e''  '\n",
		"double":          `a: "b \"c\" \\ d é é 🌙 x"` + "\n",
		"double, folded":  "a: \"b \\\n   c\n   d\"\n",
		"literal":         "a: |\n  b c\n    d\n\n  e\n",
		"literal, strip":  "a: |-\n     b\n     c\n",
		"literal, indent": "a: |2\n    b\n  c\n",
		"folded":          "a: >\n  b c\n  d\n\n\n  e\n    f\n  g\n",
		"unicode before":  "\"ü🌙\": 1\na: \"ü\" # é\n",
		"in a flow":       "{x: [1, 2], a: 'b c', y: z}\n",
		"CRLF":            "a: |\r\n  b c\r\n  d\r\nz: 1\r\n",
		"CRLF, folded":    "a: 'b\r\n  c'\r\n",
	} {
		source, problem := readable([]byte(text))
		if problem != nil {
			t.Fatal(problem.Message)
		}
		root, problem := document(source)
		if problem != nil {
			t.Errorf("%s: %s", name, problem.Message)
			continue
		}
		d := &decoder{spec: &Spec{source: source}}
		for i := 0; i < len(root.Content); i += 2 {
			if root.Content[i].Value != "a" {
				continue
			}
			n := root.Content[i+1]
			value := []rune(n.Value)
			places := d.places(n)
			for len(value) > 0 && (value[len(value)-1] == '\n' || value[len(value)-1] == ' ') {
				value = value[:len(value)-1]
			}
			if len(places) < len(value) {
				t.Errorf("%s: %d places for %d characters of %q", name, len(places), len(value), n.Value)
				continue
			}
			lines := bytes.Split(source, []byte("\n"))
			for k, r := range value {
				line := []rune(string(lines[places[k].Line-1]))
				at := places[k].Column - 1
				if unicode.IsSpace(r) {
					continue
				}
				if at >= len(line) || (line[at] != r && line[at] != '\\') {
					t.Errorf("%s: character %d (%q) is not at %v", name, k, r, places[k])
				}
			}
		}
	}
}

// TestPlacesGiveUp: text that cannot be followed stands where it begins.
func TestPlacesGiveUp(t *testing.T) {
	source := []byte("a: b\n")
	root, _ := document(source)
	n := root.Content[1]
	n.Value = "zzz"
	d := &decoder{spec: &Spec{source: source}}
	if places := d.places(n); len(places) != 1 || places[0] != pos(n) {
		t.Errorf("got %v", places)
	}
}

// FuzzDecodeHosts: whatever the bytes, there are hosts or a *FileError.
func FuzzDecodeHosts(f *testing.F) {
	f.Add([]byte(hostsFile))
	f.Add([]byte("a: {gpu-memory: 1e9GiB, address: '[::1]:22', env: {A: ~}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		hosts, err := DecodeHosts("h", data)
		if (hosts == nil) == (err == nil) {
			t.Fatalf("%v and %v", hosts, err)
		}
		if err != nil && strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' && r != '\n' }) {
			t.Errorf("the message is %q", err.Error())
		}
	})
}

// FuzzEnvFile: whatever the bytes, the variables can be handed to a process.
func FuzzEnvFile(f *testing.F) {
	f.Add([]byte("A=1\n# x\nexport B='2'\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		settings, err := EnvFile(data)
		if err != nil && settings != nil {
			t.Fatal("both settings and an error")
		}
		for _, e := range (Configuration{Env: settings}).Environ() {
			if name, _, ok := strings.Cut(e, "="); !ok || !envPattern.MatchString(name) || strings.ContainsRune(e, 0) {
				t.Errorf("variable %q", e)
			}
		}
	})
}

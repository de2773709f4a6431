package sweep

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(JSONSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("sweep.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sweep.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// instance is a YAML document as an editor's YAML 1.2 reader hands it to a
// schema; false where it is no such document.
func instance(text string) (any, bool) {
	source, problem := readable([]byte(text))
	if problem != nil {
		return nil, false
	}
	root, problem := document(source)
	if problem != nil {
		return nil, false
	}
	return value(root, 0), true
}

func value(n *yaml.Node, depth int) any {
	if depth > 100 {
		return nil // an alias inside its own anchor
	}
	switch n.Kind {
	case yaml.AliasNode:
		return value(n.Alias, depth+1)
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[n.Content[i].Value] = value(n.Content[i+1], depth+1)
		}
		return m
	case yaml.SequenceNode:
		list := []any{}
		for _, c := range n.Content {
			list = append(list, value(c, depth+1))
		}
		return list
	}
	switch kindOf(n) {
	case null:
		return nil
	case yes, no:
		return kindOf(n) == yes
	case number:
		if jsonNumber.MatchString(n.Value) {
			return json.Number(n.Value)
		}
		return json.Number("16") // octal, hexadecimal, infinite: some number
	}
	return n.Value
}

// TestSchemaAcceptsGoodFiles: every good case and every file that comes with
// sweep.
func TestSchemaAcceptsGoodFiles(t *testing.T) {
	schema := compiledSchema(t)
	check := func(name, text string) {
		doc, ok := instance(text)
		if !ok {
			t.Errorf("%s is no YAML", name)
			return
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, cases := readGolden(t, "testdata/good.txtar")
	for _, c := range cases {
		if strings.HasSuffix(c.name, ".yaml") {
			check(c.name, complete(c.text))
		}
	}
	sweeps, _ := filepath.Glob("../../sweeps/*.yaml")
	for _, file := range sweeps {
		check(file, sweepFile(t, filepath.Base(file)))
	}
	check("example", example)
}

// TestSchemaRefusesBadFiles: of the bad cases a schema lets through only those
// that are listed, with the reason, in testdata/beyond-schema.txt.
func TestSchemaRefusesBadFiles(t *testing.T) {
	schema := compiledSchema(t)
	data, err := os.ReadFile("testdata/beyond-schema.txt")
	if err != nil {
		t.Fatal(err)
	}
	var beyond []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			beyond = append(beyond, line)
		}
	}
	var through []string
	refused := 0
	_, cases := readGolden(t, "testdata/bad.txtar")
	for _, c := range cases {
		name, isCase := strings.CutSuffix(c.name, ".yaml")
		if !isCase {
			continue
		}
		doc, ok := instance(complete(c.text))
		if !ok {
			continue // no document to look at
		}
		if schema.Validate(doc) == nil {
			through = append(through, name)
		} else {
			refused++
		}
	}
	slices.Sort(through)
	slices.Sort(beyond)
	if diff := cmp.Diff(beyond, through); diff != "" {
		t.Errorf("(-listed +let through)\n%s", diff)
	}
	if refused < 100 {
		t.Errorf("the schema refuses %d bad files", refused)
	}
}

// TestSchemaDescribesEverything: an editor has something to show for each key.
func TestSchemaDescribesEverything(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(JSONSchema(), &root); err != nil {
		t.Fatal(err)
	}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			return
		}
		if props, ok := m["properties"].(map[string]any); ok && !strings.HasSuffix(path, "/then") && !strings.HasSuffix(path, "/else") && !strings.HasSuffix(path, "/if") {
			for name, p := range props {
				if p, ok := p.(map[string]any); ok && p["description"] == nil && !strings.Contains(path, "/bundle") {
					t.Errorf("%s/%s has no description", path, name)
				}
			}
		}
		for name, child := range m {
			walk(path+"/"+name, child)
		}
	}
	walk("", root)
}

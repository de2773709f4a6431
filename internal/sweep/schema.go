package sweep

import (
	_ "embed"
	"slices"
)

//go:embed schema.json
var schema []byte

// JSONSchema is the JSON Schema (draft 2020-12) of the sweep file, for editors. It
// says what stands where; what only the whole file can tell (names that have to
// exist, two axes on one flag, conditions) Decode says.
func JSONSchema() []byte { return slices.Clone(schema) }

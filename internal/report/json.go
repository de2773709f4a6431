package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// JSON writes the table with exact figures.
func (t Table) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(t); err != nil {
		return fmt.Errorf("write the comparison as JSON: %w", err)
	}
	return nil
}

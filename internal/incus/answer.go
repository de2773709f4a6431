package incus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// maxAnswer bounds an answer, in bytes. A thousand instances in full are about
// six million.
const maxAnswer = 8 << 20

// answer is the envelope of everything that is not a file.
type answer struct {
	Type      string          `json:"type"` // sync, async or error
	Operation string          `json:"operation"`
	ErrorCode int             `json:"error_code"`
	Error     string          `json:"error"`
	Metadata  json.RawMessage `json:"metadata"`

	etag string
}

// decode reads an envelope. One that says no is an *Error: the HTTP status
// does not tell, since a failed operation is sent with 200.
func decode(r io.Reader, status int) (answer, error) {
	var a answer
	text, err := io.ReadAll(io.LimitReader(r, maxAnswer+1))
	if err != nil {
		return a, fmt.Errorf("read the answer: %w", err)
	}
	if len(text) > maxAnswer {
		return a, &Error{Kind: ErrAnswer, Text: fmt.Sprintf("it has more than %d bytes", maxAnswer)}
	}
	if err := json.Unmarshal(text, &a); err != nil {
		begin := text[:min(len(text), 80)]
		return a, &Error{Kind: ErrAnswer, Text: clean(fmt.Sprintf("status %d, %d bytes that begin %q: %v", status, len(text), begin, err))}
	}
	switch a.Type {
	case "sync", "async":
		if status >= 400 {
			return a, &Error{Kind: ErrAnswer, Code: status, Text: clean(fmt.Sprintf("an answer of type %q with status %d", a.Type, status))}
		}
		return a, nil
	case "error":
		code := a.ErrorCode
		if code == 0 {
			code = status
		}
		e := refused(code, a.Error)
		e.status = status
		return a, e
	}
	return a, &Error{Kind: ErrAnswer, Text: clean(fmt.Sprintf("status %d, JSON of type %q", status, a.Type))}
}

// into decodes the metadata of an answer.
func (a answer) into(value any) error {
	if len(a.Metadata) == 0 || bytes.Equal(a.Metadata, []byte("null")) {
		return &Error{Kind: ErrAnswer, Text: "it holds nothing"}
	}
	if err := json.Unmarshal(a.Metadata, value); err != nil {
		return &Error{Kind: ErrAnswer, Text: clean(err.Error())}
	}
	return nil
}

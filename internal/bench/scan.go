package bench

import (
	"bytes"
	"encoding/json"
)

// said is what one event of a token stream says.
type said struct {
	output int    // output tokens so far; -1: not said
	prompt int    // prompt tokens; -1: not said
	cached int    // of these from the prefix cache; -1: not said
	finish string // the finish reason
	text   bool   // visible text, content or reasoning
	failed bool   // an error object, or a finish by abort
	over   bool   // [DONE]
}

// scan reads an event by its keys, without decoding it: a stream that repeats
// the whole text in every event is quadratic in bytes, and a JSON decoder on
// each of them makes the client the bottleneck. Every quote inside a JSON
// string is escaped, so going from string to string finds exactly the keys.
func scan(data []byte) said {
	s := said{output: -1, prompt: -1, cached: -1}
	if bytes.Equal(bytes.TrimSpace(data), []byte("[DONE]")) {
		s.over = true
		return s
	}
	inFinish := false
	for {
		key, rest, ok := nextString(data)
		if !ok {
			return s
		}
		value, isKey := afterColon(rest)
		data = rest
		if !isKey {
			continue
		}
		switch string(key) {
		case "completion_tokens":
			s.output = number(value, s.output)
		case "prompt_tokens":
			s.prompt = number(value, s.prompt)
		case "cached_tokens":
			s.cached = number(value, s.cached)
		case "text", "content", "reasoning_content", "reasoning":
			s.text = s.text || len(value) > 1 && value[0] == '"' && value[1] != '"'
		case "finish_reason":
			// "length", or {"type": "length", …} as sglang's own API has it, or null.
			inFinish = len(value) > 0 && value[0] == '{'
			if reason, _, ok := stringAt(value); ok {
				s.finish = clean(reason, 40)
			}
		case "type":
			if reason, _, ok := stringAt(value); ok && inFinish {
				s.finish, inFinish = clean(reason, 40), false
			}
		case "error":
			s.failed = s.failed || len(value) > 0 && !bytes.HasPrefix(value, []byte("null"))
		case "object":
			if kind, _, ok := stringAt(value); ok && string(kind) == "error" {
				s.failed = true
			}
		}
		if s.finish == "abort" {
			s.failed = true
		}
	}
}

// nextString finds the next JSON string in data and returns its raw content and
// what follows it.
func nextString(data []byte) (content, rest []byte, ok bool) {
	start := bytes.IndexByte(data, '"')
	if start < 0 {
		return nil, nil, false
	}
	return stringAt(data[start:])
}

// stringAt reads a JSON string that starts with the first byte of data.
func stringAt(data []byte) (content, rest []byte, ok bool) {
	if len(data) == 0 || data[0] != '"' {
		return nil, nil, false
	}
	for i := 1; ; {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return nil, nil, false
		}
		i += n
		escapes := 0
		for data[i-1-escapes] == '\\' { // ends at the latest at the opening quote
			escapes++
		}
		if escapes%2 == 0 {
			return data[1:i], data[i+1:], true
		}
		i++
	}
}

// afterColon returns the value when what follows a string makes it a key.
func afterColon(rest []byte) (value []byte, ok bool) {
	rest = blank(rest)
	if len(rest) == 0 || rest[0] != ':' {
		return nil, false
	}
	return blank(rest[1:]), true
}

// blank passes over JSON's white space, of which there is one byte or none.
func blank(data []byte) []byte {
	for len(data) > 0 && (data[0] == ' ' || data[0] == '\n' || data[0] == '\t' || data[0] == '\r') {
		data = data[1:]
	}
	return data
}

// number reads a count. What is no count, or beyond any real one, says nothing.
func number(value []byte, otherwise int) int {
	n, digits := 0, 0
	for digits < len(value) && value[digits] >= '0' && value[digits] <= '9' {
		if digits == 9 {
			return otherwise
		}
		n = n*10 + int(value[digits]-'0')
		digits++
	}
	if digits == 0 {
		return otherwise
	}
	return n
}

// complaint is what an event that reports a failure says about it. It is only
// called then, so it may decode.
func complaint(data []byte) string {
	var event struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Meta    struct {
			Finish struct {
				Message string `json:"message"`
			} `json:"finish_reason"`
		} `json:"meta_info"`
	}
	if json.Unmarshal(data, &event) == nil {
		var inner struct {
			Message string `json:"message"`
		}
		json.Unmarshal(event.Error, &inner) //nolint:errcheck // an error that is no object is shown as it is
		for _, message := range []string{inner.Message, event.Message, event.Meta.Finish.Message} {
			if message != "" {
				return clean([]byte(message), maxComplaint)
			}
		}
		if event.Error != nil {
			data = event.Error
		}
	}
	return clean(data, maxComplaint)
}

// maxComplaint bounds a server's own words in a message, in bytes.
const maxComplaint = 200

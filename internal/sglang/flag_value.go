package sglang

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// What Python's int() and float() read: digits of any script, single
// underscores between them. A limit of 4,300 digits is Python's own.
var (
	pythonInt   = regexp.MustCompile(`^[+-]?\d+(?:_\d+)*$`)
	pythonFloat = regexp.MustCompile(`(?i)^[+-]?(?:inf|infinity|nan|(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+(?:_\d+)*)?)$`)
	humanInt    = regexp.MustCompile(`^(\d+(?:\.\d+)?)(Ki|Mi|Gi|Ti|k|M|G|T)$`)
)

const maxPythonDigits = 4300

// units are the suffixes of human_readable_int, by case: SI with k, M, G, T,
// which may follow a decimal, and IEC with Ki, Mi, Gi, Ti, which may not.
var units = map[string]int64{"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40}

// pythonNumber strips what Python strips around a number, and writes digits of
// other scripts as 0 to 9.
func pythonNumber(word string) string {
	word = strings.TrimFunc(word, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f })
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII && unicode.IsDigit(r) {
			// Digits of a script stand together, from its zero on, in tens.
			zero := r
			for unicode.IsDigit(zero-1) && r-zero < 9 {
				zero--
			}
			return '0' + r - zero
		}
		return r
	}, word)
}

// readInt is Python's int(word).
func readInt(word string) (*big.Int, bool) {
	word = pythonNumber(word)
	if !pythonInt.MatchString(word) || len(strings.Trim(strings.ReplaceAll(word, "_", ""), "+-")) > maxPythonDigits {
		return nil, false
	}
	return new(big.Int).SetString(strings.ReplaceAll(word, "_", ""), 10)
}

// readHuman is sglang's human_readable_int.
func readHuman(word string) (*big.Int, bool) {
	m := humanInt.FindStringSubmatch(pythonNumber(word))
	if m == nil {
		return readInt(word)
	}
	if len(m[2]) == 2 && strings.Contains(m[1], ".") || len(m[1]) > maxPythonDigits {
		return nil, false
	}
	number, ok := new(big.Rat).SetString(m[1])
	if !ok {
		return nil, false
	}
	number.Mul(number, new(big.Rat).SetInt64(units[m[2]]))
	return new(big.Int).Quo(number.Num(), number.Denom()), true
}

// readFloat is Python's float(word).
func readFloat(word string) (float64, bool) {
	word = pythonNumber(word)
	if !pythonFloat.MatchString(word) {
		return 0, false
	}
	f, _ := strconv.ParseFloat(strings.ReplaceAll(word, "_", ""), 64) // too large is infinite, in Python too
	return f, true
}

// reads tells whether the server can read a word as this type.
func (t FlagType) reads(word string) bool {
	var ok bool
	switch t {
	case TypeInt:
		_, ok = readInt(word)
	case TypeHuman:
		_, ok = readHuman(word)
	case TypeFloat:
		_, ok = readFloat(word)
	case TypeJSON:
		ok = pythonJSON(word)
	case TypeList:
		ok = json.Valid([]byte(word))
	case TypeGraph:
		ok = graphConfig(word)
	default:
		ok = true
	}
	return ok
}

// canonical is a word's value in one spelling, so that 08 and 8, or 0.850 and
// 0.85, are the same choice. A word that does not read stays as it is.
func (t FlagType) canonical(word string) string {
	switch t {
	case TypeInt:
		if n, ok := readInt(word); ok {
			return n.String()
		}
	case TypeHuman:
		if n, ok := readHuman(word); ok {
			return n.String()
		}
	case TypeFloat:
		if f, ok := readFloat(word); ok {
			return strconv.FormatFloat(f, 'g', -1, 64)
		}
	}
	return word
}

// takes tells whether a word is one of the flag's choices; argparse compares
// after it has read the word.
func (f *Flag) takes(word string) bool {
	if len(f.Choices) == 0 {
		return true
	}
	word = f.Type.canonical(word)
	for _, c := range f.Choices {
		if f.Type.canonical(c) == word {
			return true
		}
	}
	return false
}

// wanted says what a type asks for, in a message.
func (t FlagType) wanted() string {
	switch t {
	case TypeInt:
		return "a whole number"
	case TypeHuman:
		return "a whole number (8192, 128k, 64Ki)"
	case TypeFloat:
		return "a number"
	case TypeJSON, TypeList:
		return "JSON"
	case TypeGraph:
		return `JSON like {"decode": {…}, "prefill": {…}}`
	}
	return "a word"
}

// pythonJSON tells whether Python's json.loads reads a text. Beyond JSON it
// takes the bare words NaN, Infinity and -Infinity.
func pythonJSON(text string) bool {
	if json.Valid([]byte(text)) {
		return true
	}
	if !strings.Contains(text, "N") && !strings.Contains(text, "I") {
		return false
	}
	var b strings.Builder
	inString := false
	for i := 0; i < len(text); {
		switch rest := text[i:]; {
		case inString && text[i] == '\\' && i+1 < len(text):
			b.WriteString(text[i : i+2])
			i += 2
			continue
		case text[i] == '"':
			inString = !inString
		case inString:
		case strings.HasPrefix(rest, "-Infinity"):
			b.WriteString("null")
			i += len("-Infinity")
			continue
		case strings.HasPrefix(rest, "Infinity"):
			b.WriteString("null")
			i += len("Infinity")
			continue
		case strings.HasPrefix(rest, "NaN"):
			b.WriteString("null")
			i += len("NaN")
			continue
		}
		b.WriteByte(text[i])
		i++
	}
	return json.Valid([]byte(b.String()))
}

// graphConfig tells whether sglang's parse_cuda_graph_config_arg reads a text:
// an object of decode and prefill, each an object. The keys inside differ by
// version, and are left to the server.
func graphConfig(text string) bool {
	var phases map[string]json.RawMessage
	if !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") || json.Unmarshal([]byte(text), &phases) != nil {
		return false
	}
	for name, settings := range phases {
		var object map[string]json.RawMessage
		if name != "decode" && name != "prefill" || string(settings) == "null" || json.Unmarshal(settings, &object) != nil {
			return false
		}
	}
	return true
}

package sglang

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// rawFlag is a flag in a dump. Lists made from sglang's source have the same
// keys, with types and actions as the source spells them.
type rawFlag struct {
	Names    []string        `json:"names"`
	Action   string          `json:"action"`
	Type     string          `json:"type"`
	Nargs    json.RawMessage `json:"nargs"`
	Choices  json.RawMessage `json:"choices"`
	Default  json.RawMessage `json:"default"`
	Required bool            `json:"required"`
	Instead  string          `json:"instead"`
}

var (
	optionName = regexp.MustCompile(`^--?[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)
	wordCount  = regexp.MustCompile(`^\d{1,3}$`)
)

// flag makes a Flag of its declaration; false for one that no sweep file can
// name.
func (r rawFlag) flag() (Flag, bool) {
	var f Flag
	for _, name := range r.Names {
		if optionName.MatchString(name) && len(f.Names) < maxDumpNames {
			f.Names = append(f.Names, name)
		}
	}
	action := r.Action[strings.LastIndexAny(r.Action, " .")+1:] // "<expr> argparse.BooleanOptionalAction"
	if action == "BooleanOptionalAction" {
		f.Names = slices.DeleteFunc(f.Names, func(n string) bool { return strings.HasPrefix(n, "--no-") })
	}
	if len(f.Names) == 0 {
		return f, false
	}
	usualFirst(f.Names)
	f.Required, f.Instead = r.Required, cut(Plain(r.Instead), maxKept)
	f.Deprecated = strings.HasPrefix(action, "Deprecated")
	f.Nargs = nargs(r.Nargs)
	switch action {
	case "_HelpAction", "help":
		f.Kind, f.Nargs = FlagHelp, ""
		return f, true
	case "BooleanOptionalAction":
		f.Kind, f.Nargs = FlagToggle, ""
		return f, true
	case "DeprecatedAction":
		f.Ignored = true
		f.Kind, f.Nargs = FlagSwitch, ""
		return f, true
	case "LoRAPathAction":
		if f.Nargs == "" { // declared in the class's arguments, which a list of the source does not see
			f.Nargs = "*"
		}
	case "store_true", "store_false", "store_const", "DeprecatedStoreTrueAction", "DeprecatedStoreConstAction":
		f.Nargs = "0"
	}
	if f.Nargs == "0" {
		f.Kind, f.Nargs = FlagSwitch, ""
		return f, true
	}
	f.Type = flagType(r.Type)
	f.Choices = choices(r.Choices)
	f.Default = scalar(r.Default)
	switch {
	case f.Type == TypeJSON || f.Type == TypeList || f.Type == TypeGraph:
		f.Kind = FlagJSON
	case f.Nargs == "" || f.Nargs == "?":
		f.Kind = FlagWord
	default:
		f.Kind = FlagWords
	}
	return f, true
}

// usualFirst puts the name first that all versions and people use. Up to 0.5.12
// sglang declares --tensor-parallel-size before --tp-size, later after it.
func usualFirst(names []string) {
	for i, name := range names {
		if strings.HasSuffix(name, "-size") && strings.HasSuffix(names[0], "-size") && len(name) < len(names[0]) {
			names[0], names[i] = names[i], names[0]
		}
	}
}

// flagType names the reader of a word. Lists of the source spell what the
// parser derives from annotations: List[int] reads ints one by one, Literal
// takes the type of its first value, any other union is text.
func flagType(name string) FlagType {
	name = strings.TrimPrefix(name, "<expr> ")
	if inner, ok := strings.CutPrefix(name, "List["); ok {
		name = strings.TrimSuffix(inner, "]")
	}
	if inner, ok := strings.CutPrefix(name, "Literal["); ok {
		if strings.IndexAny(inner, "0123456789") == 0 {
			return TypeInt
		}
		return TypeText
	}
	switch name {
	case "", "str", "nullable_str":
		return TypeText
	case "int":
		return TypeInt
	case "float":
		return TypeFloat
	case "bool":
		return TypeBool
	case "human_readable_int":
		return TypeHuman
	case "loads", "json.loads":
		return TypeJSON
	case "json_list_type":
		return TypeList
	case "parse_cuda_graph_config_arg":
		return TypeGraph
	}
	if strings.HasPrefix(name, "Union[") {
		return TypeText
	}
	return TypeAny
}

// nargs is the number of words: argparse's sign, or a count.
func nargs(raw json.RawMessage) string {
	text := scalar(raw)
	switch {
	case text == "?" || text == "*" || text == "+", wordCount.MatchString(text):
		return text
	}
	return ""
}

// choices are the words a flag takes. What a list of the source could not
// evaluate is left open.
func choices(raw json.RawMessage) []string {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var words []string
	for _, item := range list {
		if len(words) == maxDumpList {
			return nil // cut short they would refuse what the server accepts
		}
		if word := scalar(item); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// scalar is the text of a JSON scalar as a person would write it; empty for
// null, for a default that only the host can evaluate, and for what is none.
func scalar(raw json.RawMessage) string {
	var s string
	switch {
	case json.Unmarshal(raw, &s) == nil:
		if strings.HasPrefix(s, "<") || strings.HasPrefix(s, "==") { // an expression, <required>, ==SUPPRESS==
			return ""
		}
		return cut(Plain(s), maxKept)
	case len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'):
		return cut(string(raw), maxKept)
	case string(raw) == "true":
		return "True"
	case string(raw) == "false":
		return "False"
	}
	return ""
}

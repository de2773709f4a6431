package sglang

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseFlagDump(t *testing.T) {
	fs, err := ParseFlagDump([]byte("warning: {\"sglang\": no\n\n" + `{"sglang": "v0.5.10.post1", "flags": [{"names":["-h","--help"],"action":"_HelpAction","nargs":0},` +
		`{"names":["--tp-size","--tensor-parallel-size"],"action":"_StoreAction","type":"int","nargs":null,"choices":null,"default":1},` +
		`{"names":["--cuda-graph-bs"],"action":"DeprecatedAliasStoreAction","type":"int","nargs":"+","instead":"--cuda-graph-bs-decode"},` +
		`{"names":["--x","--no-x"],"action":"BooleanOptionalAction","nargs":0,"default":true},` +
		`{"names":["--new"],"action":"_StoreTrueAction","nargs":0,"default":false},` +
		`{"names":["--gone"],"action":"DeprecatedAction","nargs":0},` +
		`{"names":["--pair"],"action":"_StoreAction","nargs":2,"type":"float","choices":[0.5,1,null,"a"]},` +
		`{"names":["--odd"],"action":"SomeAction","type":"Path","nargs":"A..."},` +
		`{"names":["--json"],"action":"_StoreAction","type":"loads"},` +
		`{"names":["bad name","--\u001b[31m"],"action":"_StoreAction"},` +
		`{"names":["--tp-size"],"action":"_StoreAction"}]}` + "\nbye\n"))
	if err != nil {
		t.Fatal(err)
	}
	if fs.Version != "0.5.10.post1" || !fs.Installed || !fs.Exact() || fs.Source() != "the installed sglang 0.5.10.post1" {
		t.Errorf("%+v", fs)
	}
	want := []Flag{
		{Names: []string{"-h", "--help"}, Kind: FlagHelp},
		{Names: []string{"--tp-size", "--tensor-parallel-size"}, Kind: FlagWord, Type: TypeInt, Default: "1"},
		{Names: []string{"--cuda-graph-bs"}, Kind: FlagWords, Type: TypeInt, Nargs: "+", Deprecated: true, Instead: "--cuda-graph-bs-decode"},
		{Names: []string{"--x"}, Kind: FlagToggle},
		{Names: []string{"--new"}, Kind: FlagSwitch},
		{Names: []string{"--gone"}, Kind: FlagSwitch, Deprecated: true, Ignored: true},
		{Names: []string{"--pair"}, Kind: FlagWords, Type: TypeFloat, Nargs: "2", Choices: []string{"0.5", "1", "a"}},
		{Names: []string{"--odd"}, Kind: FlagWord, Type: TypeAny},
		{Names: []string{"--json"}, Kind: FlagJSON, Type: TypeJSON},
	}
	if diff := cmp.Diff(want, fs.Flags); diff != "" {
		t.Error(diff)
	}
	if problems := fs.CheckFlag(word("pair", "1"), false); len(problems) != 1 || problems[0].Message != "pair needs 2 words" {
		t.Error(problems)
	}
	for _, bad := range []string{"", "{", "[]", "null", `{"sglang":"1","flags":[]}`, `{"flags":[{"names":"x"}]}`, `[{"names":["bad name"]}]`,
		"[" + strings.Repeat(`{"names":["--a"]},`, maxDumpFlags) + `{"names":["--b"]}]`, strings.Repeat(" ", MaxFlagDump+1)} {
		if _, err := ParseFlagDump([]byte(bad)); err == nil {
			t.Errorf("%.40q is read", bad)
		}
	}
}

// TestListsFromTheSource: where nothing could be run, a list has what the source
// says: annotations, and expressions that only the host can evaluate.
func TestListsFromTheSource(t *testing.T) {
	fs, err := ParseFlagDump([]byte(`[
{"names":["--tensor-parallel-size","--tp-size"],"action":"store","type":"<expr> int","default":1},
{"names":["--bs"],"action":"store","type":"List[int]","nargs":"+"},
{"names":["--mode"],"action":"store","type":"Literal[1, 2]","choices":[1,2],"default":2},
{"names":["--role"],"action":"store","type":"Literal['a', 'b']","choices":["a","b"],"default":"<expr> argparse.SUPPRESS"},
{"names":["--quant"],"action":"store","type":"Union[str, Dict]","default":true},
{"names":["--parser"],"action":"store","type":"<expr> str","choices":"<expr> list(X.keys())","default":false},
{"names":["--lora-paths"],"action":"<expr> LoRAPathAction","type":"Union[dict[str, str], List[str]]"},
{"names":["--keep","--no-keep"],"action":"<expr> argparse.BooleanOptionalAction","type":"bool"},
{"names":["--old"],"action":"<expr> DeprecatedStoreConstAction"},
{"names":["--config"],"action":"store","type":"<expr> parse_cuda_graph_config_arg"},
{"names":["--extra"],"action":"store","type":"<expr> json.loads"},
{"names":["--hooks"],"action":"store","type":"<expr> json_list_type"},
{"names":["--context"],"action":"store","type":"<expr> human_readable_int"},
{"names":["--param"],"action":"store","type":"<expr> nullable_str","default":-0.5},
{"names":["-o"],"action":"store_true"}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Flag{
		helpFlag(),
		{Names: []string{"--tp-size", "--tensor-parallel-size"}, Kind: FlagWord, Type: TypeInt, Default: "1"},
		{Names: []string{"--bs"}, Kind: FlagWords, Type: TypeInt, Nargs: "+"},
		{Names: []string{"--mode"}, Kind: FlagWord, Type: TypeInt, Choices: []string{"1", "2"}, Default: "2"},
		{Names: []string{"--role"}, Kind: FlagWord, Type: TypeText, Choices: []string{"a", "b"}},
		{Names: []string{"--quant"}, Kind: FlagWord, Type: TypeText, Default: "True"},
		{Names: []string{"--parser"}, Kind: FlagWord, Type: TypeText, Default: "False"},
		{Names: []string{"--lora-paths"}, Kind: FlagWords, Type: TypeText, Nargs: "*"},
		{Names: []string{"--keep"}, Kind: FlagToggle},
		{Names: []string{"--old"}, Kind: FlagSwitch, Deprecated: true},
		{Names: []string{"--config"}, Kind: FlagJSON, Type: TypeGraph},
		{Names: []string{"--extra"}, Kind: FlagJSON, Type: TypeJSON},
		{Names: []string{"--hooks"}, Kind: FlagJSON, Type: TypeList},
		{Names: []string{"--context"}, Kind: FlagWord, Type: TypeHuman},
		{Names: []string{"--param"}, Kind: FlagWord, Type: TypeText, Default: "-0.5"},
		{Names: []string{"-o"}, Kind: FlagSwitch},
	}
	if diff := cmp.Diff(want, fs.Flags); diff != "" {
		t.Error(diff)
	}
	if name := fs.Flags[len(fs.Flags)-1].Name(); name != "o" {
		t.Errorf("a short flag is called %q", name)
	}
}

// TestDumpCommandRuns runs the script against a module that stands in for
// sglang: its parser is Python's own, with every kind of action.
func TestDumpCommandRuns(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	dir := t.TempDir()
	module := filepath.Join(dir, "sglang", "srt")
	if err := os.MkdirAll(module, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"sglang/__init__.py":     "__version__ = '0.5.99+local'\n",
		"sglang/srt/__init__.py": "print('chatter on import')\n",
		"sglang/srt/server_args.py": `import argparse, json
class DeprecatedAliasStoreAction(argparse.Action):
    def __init__(self, option_strings, dest, new_flag=None, **kw):
        self.new_flag = new_flag
        super().__init__(option_strings, dest, **kw)
class ServerArgs:
    @staticmethod
    def add_cli_args(p):
        p.add_argument("--model-path", "--model", type=str, required=True)
        p.add_argument("--tp-size", type=int, default=1)
        p.add_argument("--enable-metrics", action="store_true")
        p.add_argument("--toggle", action=argparse.BooleanOptionalAction, default=True)
        p.add_argument("--level", type=int, choices=[0, 1])
        p.add_argument("--bs", type=int, nargs="+")
        p.add_argument("--more", type=json.loads)
        p.add_argument("--odd", type=lambda x: x, default=object())
        p.add_argument("--old-bs", type=int, action=DeprecatedAliasStoreAction, new_flag="--bs")
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	argv := DumpCommand(python)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	fs, err := ParseFlagDump(out)
	if err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if fs.Version != "0.5.99+local" {
		t.Errorf("version %q", fs.Version)
	}
	kinds := map[string]FlagKind{}
	for _, f := range fs.Flags {
		kinds[f.Name()] = f.Kind
	}
	want := map[string]FlagKind{"help": FlagHelp, "model-path": FlagWord, "tp-size": FlagWord, "enable-metrics": FlagSwitch, "toggle": FlagToggle,
		"level": FlagWord, "bs": FlagWords, "more": FlagJSON, "odd": FlagWord, "old-bs": FlagWord}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
	if f := fs.Lookup("old-bs"); !f.Deprecated || f.Instead != "--bs" {
		t.Errorf("%+v", f)
	}
	if f := fs.Lookup("model"); !f.Required || f.Default != "" {
		t.Errorf("%+v", f)
	}
}

func FuzzParseFlagDump(f *testing.F) {
	f.Add([]byte(`{"sglang":"0.5.10","flags":[{"names":["--a","-b"],"action":"store","type":"int","nargs":"+","choices":[1,"x"],"default":1.5}]}`))
	f.Add([]byte(`[{"names":["--a"],"action":"<expr> argparse.BooleanOptionalAction"}]`))
	f.Add([]byte("noise\n{\"sglang\": \"1\", \"flags\": [{\"names\": [\"--a\"], \"type\": \"Literal[\"}]}\nnoise"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fs, err := ParseFlagDump(data)
		if err != nil {
			return
		}
		for i := range fs.Flags {
			flag := &fs.Flags[i]
			if name := flag.Name(); name == "" || Plain(name) != name {
				t.Fatalf("name %q", name)
			}
			if full, _ := fs.Complete(flag.Names[0]); full != flag.Name() && fs.Lookup(flag.Names[0]) == flag {
				t.Fatalf("%q is completed to %q", flag.Names[0], full)
			}
			for _, p := range fs.CheckFlag(Given{Name: flag.Name(), Kind: GivenWords, Words: []string{string(data[:min(len(data), 20)]), "-x"}}, true) {
				if strings.ContainsAny(p.Message+p.Hint, "\n\x1b\x00") {
					t.Fatalf("message %q", p.Message)
				}
			}
		}
	})
}

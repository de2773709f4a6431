package sim

import (
	"strings"
	"testing"
)

func TestArgparseRefusals(t *testing.T) {
	for _, c := range []struct{ argv, want string }{
		{"--model m --x", "unrecognized arguments: --x"},
		{"--model m --tp_size 8", "unrecognized arguments: --tp_size 8"},
		{"--model m --disable-cuda-graph True", "unrecognized arguments: True"},
		{"--model m --disable-cuda-graph=True", "argument --disable-cuda-graph: ignored explicit argument 'True'"},
		{"--model m --tp x", "argument --tensor-parallel-size/--tp-size: invalid int value: 'x'"},
		{"--model m --mem-fraction-static high", "argument --mem-fraction-static: invalid float value: 'high'"},
		{"--model m --max-total-tokens 1x", "argument --max-total-tokens: invalid human_readable_int value: '1x'"},
		{"--model m --tokenizer-mode fast", "argument --tokenizer-mode: invalid choice: 'fast' (choose from 'auto', 'slow')"},
		{"--model m --pp 2", "ambiguous option: --pp could match --pp-size, --pp-max-micro-batch-size, --pp-async-batch-depth"},
		{"--model m --port", "argument --port: expected one argument"},
		{"--model m --port --tp 8", "argument --port: expected one argument"},
		{"--model m --cuda-graph-bs", "argument --cuda-graph-bs: expected at least one argument"},
		{"--tp 8 --x", "the following arguments are required: --model-path/--model"},
	} {
		_, err := parseArgs(sglangFlags(defaultVersion), strings.Fields(c.argv))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s\n got %v\nwant %s", c.argv, err, c.want)
		}
	}
}

func TestArgparseReads(t *testing.T) {
	a, err := parseArgs(sglangFlags(defaultVersion), []string{
		"--model", "m", "--tp", "8", "--pp-size=2", "--tp-size", "4", "--ep", "2", "--max-total-tokens", "8Ki",
		"--chunked-prefill-size", "-1", "--cuda-graph-bs", "1", "8", "32", "--disable-cuda-graph",
		"--mem-fraction-static", "0.85", "--model-loader-extra-config", `{"num_threads": 16}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	if a.Text("model_path") != "m" || a.Int("tp_size") != 4 || a.Int("pp_size") != 2 || a.Int("ep_size") != 2 ||
		a.Int("max_total_tokens") != 8192 || a.Int("chunked_prefill_size") != -1 || len(a.Ints("cuda_graph_bs")) != 3 ||
		!a.Bool("disable_cuda_graph") || a.Float("mem_fraction_static") != 0.85 || a.Int("port") != 30000 ||
		!a.None("max_running_requests") || a.Text("model_loader_extra_config") != `{"num_threads": 16}` {
		t.Errorf("parsed %s", a)
	}
	if s := a.String(); !strings.HasPrefix(s, "ServerArgs(model_path='m', tokenizer_path=None, ") ||
		!strings.Contains(s, "cuda_graph_bs=[1, 8, 32]") || !strings.Contains(s, "disable_cuda_graph=True") || !strings.Contains(s, "schedule_conservativeness=1.0") {
		t.Errorf("repr: %s", s)
	}
}

// Whatever is typed, the parser answers without panic and never both accepts
// and forgets: an accepted command line has its model.
func FuzzArgparse(f *testing.F) {
	f.Add("--model m --tp 8")
	f.Add("--pp 2 -1 --=x -- -h --cuda-graph-bs 1 2 x")
	f.Add("--max-total-tokens 9999999999999999K --model=")
	flags := sglangFlags(defaultVersion)
	f.Fuzz(func(t *testing.T, line string) {
		argv := strings.Split(line, " ")
		o, rest, err := splitOptions(argv)
		if err != nil {
			return
		}
		a, err := parseArgs(flags, rest)
		if err == nil && a.None("model_path") {
			t.Fatalf("accepted %q without a model (%+v)", line, o)
		}
	})
}

package launch

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"sweep/internal/sglang"
)

// known are flags that sglang does not rewrite, with the names they have among
// the resolved arguments: by these a server is known again.
var known = []struct {
	arg   string
	flags []string
}{
	{"tp_size", []string{"--tp-size", "--tensor-parallel-size", "--tp"}},
	{"pp_size", []string{"--pp-size", "--pipeline-parallel-size", "--pp"}},
	{"served_model_name", []string{"--served-model-name"}},
	{"random_seed", []string{"--random-seed"}},
}

// foreignTo says in what the server that answers differs from the one that was
// started, "" when it may be it. What it does not say is no difference.
func foreignTo(spec ServerSpec, r *sglang.Resolved) string {
	if r == nil {
		return ""
	}
	if got, ok := text(r.Args["port"]); ok && got != strconv.Itoa(spec.Port) {
		return fmt.Sprintf("what answers on port %d says that its port is %s", spec.Port, got)
	}
	asked := flagValue(spec.Argv, "--model-path", "--model")
	if r.ModelPath != "" && asked != "" && !sameModel(asked, r.ModelPath) {
		return fmt.Sprintf("what answers on port %d serves model %s, not %s", spec.Port, r.ModelPath, asked)
	}
	for _, k := range known {
		asked := flagValue(spec.Argv, k.flags...)
		if got, ok := text(r.Args[k.arg]); ok && asked != "" && asked != got {
			return fmt.Sprintf("what answers on port %d has %s %s, not %s", spec.Port, k.arg, got, asked)
		}
	}
	return ""
}

// text writes a scalar argument as a flag has it.
func text(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

// sameModel compares model paths: a name on the hub may come back as the
// directory it was downloaded to.
func sameModel(asked, got string) bool {
	asked, got = strings.TrimRight(asked, "/"), strings.TrimRight(got, "/")
	return asked == got || path.Base(asked) == path.Base(got) ||
		strings.Contains(got, "models--"+strings.ReplaceAll(asked, "/", "--"))
}

package sglang

import (
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"math/rand"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestJudgedByIsWhatRulesAsk: every name that the rules write out is in the list.
func TestJudgedByIsWhatRulesAsk(t *testing.T) {
	fs, _ := Flags("")
	flags, env := fs.JudgedBy()
	found := 0
	for _, file := range []string{"combos.go", "combos_model.go", "inert.go", "flag_settings.go", "flag_check.go"} {
		tree, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			var word ast.Expr
			in := flags
			switch n := n.(type) {
			case *ast.CallExpr:
				if method, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) > 0 && slices.Contains([]string{"has", "word", "number", "size"}, method.Sel.Name) {
					word = n.Args[0]
				}
			case *ast.IndexExpr:
				if of, ok := n.X.(*ast.SelectorExpr); ok && of.Sel.Name == "Env" {
					word, in = n.Index, env
				}
			}
			literal, ok := word.(*ast.BasicLit)
			if !ok {
				return true
			}
			name, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			found++
			if !slices.Contains(in, name) {
				t.Errorf("%s asks for %s, which JudgedBy does not have", file, name)
			}
			return true
		})
	}
	if found < 60 {
		t.Errorf("only %d names were found: do the rules ask in another way now?", found)
	}
}

// TestJudgedByDecides: settings that are cut down to what is asked are judged as
// they were, whatever they hold.
func TestJudgedByDecides(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	known := []Known{{}, {GPUs: 8, SM: 120, KVTokens: 5000, RequestTokens: 300}, {GPUs: 4}}
	problems := 0
	for _, version := range Versions() {
		fs, _ := Flags(version)
		flags, env := fs.JudgedBy()
		for range 400 {
			s := Settings{Flags: map[string][]string{}, Env: map[string]string{}}
			for _, f := range fs.Flags {
				often := 0.05
				if slices.Contains(flags, f.Name()) {
					often = 0.4
				}
				if random.Float64() > often {
					continue
				}
				words := []string{fmt.Sprint(1 << random.Intn(12))}
				switch {
				case f.Alone():
					words = nil
				case len(f.Choices) > 0:
					words = []string{f.Choices[random.Intn(len(f.Choices))]}
				case f.Name() == "model-path":
					words = []string{[]string{"lukealonso/GLM-5-NVFP4", "a/b"}[random.Intn(2)]}
				}
				s.Flags[f.Name()] = words
			}
			for _, name := range []string{"CUDA_VISIBLE_DEVICES", "NCCL_P2P_LEVEL", "SGLANG_ENABLE_SPEC_V2", "SGLANG_PP_LAYER_PARTITION"} {
				if random.Intn(3) == 0 {
					s.Env[name] = "0,1"
				}
			}
			less := Settings{Flags: map[string][]string{}, Env: map[string]string{}}
			for name, words := range s.Flags {
				if slices.Contains(flags, name) {
					less.Flags[name] = words
				}
			}
			for name, value := range s.Env {
				if slices.Contains(env, name) {
					less.Env[name] = value
				}
			}
			for _, k := range known {
				want := Combine(s, k, fs.Release())
				problems += len(want)
				if diff := cmp.Diff(want, Combine(less, k, fs.Release())); diff != "" {
					t.Fatalf("%s: %v: %s", version, s, diff)
				}
			}
			if diff := cmp.Diff(fs.Missing(s), fs.Missing(less)); diff != "" {
				t.Fatalf("%s: %v: %s", version, s, diff)
			}
			whole, cut := IdleIn(s, fs.Release()), IdleIn(less, fs.Release())
			for name := range s.Flags {
				if a, b := whole.Flag(name), cut.Flag(name); a != b {
					t.Fatalf("%s: %s in %v: %q, %q", version, name, s, a, b)
				}
			}
			for name := range s.Env {
				if a, b := whole.Variable(name), cut.Variable(name); a != b {
					t.Fatalf("%s: %s in %v: %q, %q", version, name, s, a, b)
				}
			}
		}
	}
	if problems < 1000 {
		t.Errorf("only %d problems were found in all", problems)
	}
}

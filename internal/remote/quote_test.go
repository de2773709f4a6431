package remote

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// hardArgs are arguments that quoting gets wrong when it is wrong.
func hardArgs() []string {
	var all []byte
	for c := 1; c < 256; c++ {
		all = append(all, byte(c))
	}
	return []string{"", " ", "a b", "'", "''", `"`, `\`, `\\`, `\'`, "$HOME", "${HOME}", "$(id)", "`id`", "!", "!!", "!$", "*", "~", "~root",
		"a\nb", "\n", "trailing\n", "\r\n", "\t", `{"x": [1, "two"], "y": null}`, "größe", "日本語", "\xff\xfe", "-n", "--", "=x", "#x", "a;b", "a|b&c",
		"%s%n", `\0101`, `\n`, "\x01\x7f", "{a,b}", "[a-z]", "<>", "()", "^x", "a=b", string(all), strings.Repeat("'", 50)}
}

// randomArgs makes argument lists out of the bytes that matter.
func randomArgs(r *rand.Rand) []string {
	args := make([]string, 1+r.IntN(6))
	special := `'"\$` + "`" + "!\n\t #*?~[]{}()<>|&;=%^-,\x01\x7f\x80\xff"
	for i := range args {
		var b strings.Builder
		for range r.IntN(24) {
			switch r.IntN(4) {
			case 0:
				b.WriteByte(byte(1 + r.IntN(255)))
			case 1:
				b.WriteString([]string{"ß", "漢", "🙂", "a", "1"}[r.IntN(5)])
			default:
				b.WriteByte(special[r.IntN(len(special))])
			}
		}
		args[i] = b.String()
	}
	return args
}

// argLists are those that every way to the host has to pass on unchanged.
func argLists(n int) [][]string {
	r := rand.New(rand.NewPCG(1, 2))
	lists := [][]string{hardArgs()}
	for range n {
		lists = append(lists, randomArgs(r))
	}
	return lists
}

func nulJoined(args []string) []byte { return []byte(strings.Join(args, "\x00") + "\x00") }

// TestLoginShells gives commands to each login shell as sshd does.
func TestLoginShells(t *testing.T) {
	for _, shell := range []string{"sh", "dash", "bash", "zsh", "ksh", "fish", "csh", "tcsh"} {
		t.Run(shell, func(t *testing.T) {
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Skip("no " + shell + " on this machine")
			}
			for i, args := range argLists(40) {
				line, err := Cmd{Argv: append([]string{"/usr/bin/printf", `%s\0`}, args...), Env: []string{"X=a'b!\n"}, Dir: "/"}.line("sweep-mark")
				check(t, err)
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				out, err := exec.CommandContext(ctx, program, "-c", line).Output()
				cancel()
				if err != nil {
					t.Fatalf("%d %q: %v", i, args, err)
				}
				_, got, _ := bytes.Cut(out, []byte("sweep-mark\n"))
				if !bytes.Equal(got, nulJoined(args)) {
					t.Fatalf("%d: %s printed\n%q, not\n%q", i, shell, got, nulJoined(args))
				}
			}
		})
	}
}

// TestScriptShells: /bin/sh is another shell on other systems.
func TestScriptShells(t *testing.T) {
	for _, shell := range [][]string{{"bash", "--posix"}, {"dash"}, {"zsh", "--emulate", "sh"}, {"busybox", "sh"}} {
		t.Run(shell[0], func(t *testing.T) {
			if _, err := exec.LookPath(shell[0]); err != nil {
				t.Skip("no " + shell[0] + " on this machine")
			}
			for i, args := range argLists(40) {
				line, err := Cmd{Argv: append([]string{"/usr/bin/printf", `%s\0`}, args...)}.line("sweep-mark")
				check(t, err)
				line = strings.Replace(line, "exec /bin/sh", "exec "+strings.Join(shell, " "), 1)
				out, err := exec.Command("sh", "-c", line).Output()
				if err != nil {
					t.Fatalf("%d %q: %v", i, args, err)
				}
				_, got, _ := bytes.Cut(out, []byte("sweep-mark\n"))
				if !bytes.Equal(got, nulJoined(args)) {
					t.Fatalf("%d: %s printed\n%q, not\n%q", i, shell[0], got, nulJoined(args))
				}
			}
		})
	}
}

func TestQuoteKeepsPlainWordsReadable(t *testing.T) {
	line, err := Cmd{Argv: []string{"/usr/bin/nvidia-smi", "-L"}}.line("m")
	check(t, err)
	if want := "exec /bin/sh -c 'echo m; echo m >&2; exec /usr/bin/nvidia-smi -L'"; line != want {
		t.Errorf("got %s, want %s", line, want)
	}
}

func TestCmdIsChecked(t *testing.T) {
	for name, cmd := range map[string]Cmd{
		"no program":   {},
		"empty":        {Argv: []string{""}},
		"option":       {Argv: []string{"-x"}},
		"NUL":          {Argv: []string{"echo", "a\x00b"}},
		"bad variable": {Argv: []string{"env"}, Env: []string{"a;b=c"}},
		"no value":     {Argv: []string{"env"}, Env: []string{"A"}},
		"too long":     {Argv: []string{"echo", strings.Repeat("x", maxLine)}},
		"directory":    {Argv: []string{"ls"}, Dir: "-"},
	} {
		if line, err := cmd.line("m"); err == nil {
			t.Errorf("%s: accepted as %s", name, line)
		}
	}
}

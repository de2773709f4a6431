package main

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"sweep/internal/sweep"
)

// TestReadFileRefuses: what is no sweep file is refused in one sentence that
// ends with what to do, with the exit code of a bad file.
func TestReadFileRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("sweeps/night.yaml", "name: night\nserver: {}\n")
	write("sweeps/second.yml", "name: second\nbench: {}\n")
	write("sweeps/.golangci.yml", "server: {}\n") // hidden
	write("sweeps/values.yaml", "replicas: 2\n")  // of something else
	write("sweeps/hosts.yaml", "local: {gpus: 8}\n")
	write("sweeps/notes.txt", "notes\n")
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	huge := write("empty/huge.yaml", "")
	if err := os.Truncate(huge, 2<<30); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := os.Symlink("nowhere", filepath.Join(dir, "dangling.yaml")); err != nil {
		t.Fatal(err)
	}
	both := "DIR/sweeps/night.yaml, DIR/sweeps/second.yml"
	starter := "there are " + both + "; `sweep init` writes a new one to start from" // those in sweeps, where there are none here
	for name, c := range map[string]struct{ file, want string }{
		"above":       {"nosuch.yaml", "there is no sweep file DIR/nosuch.yaml: there are " + both + "; `sweep init` writes a new one to start from"},
		"near":        {"sweeps/nigth.yaml", "there is no sweep file DIR/sweeps/nigth.yaml: did you mean DIR/sweeps/night.yaml?"},
		"missing":     {"sweeps/parallelism.yaml", "there is no sweep file DIR/sweeps/parallelism.yaml: there are " + both + "; `sweep init` writes a new one to start from"},
		"no dir":      {"sweep/night.yaml", "there is no sweep file DIR/sweep/night.yaml, nor a directory DIR/sweep: `ls` shows what there is here, `sweep init` writes a file to start from"},
		"directory":   {"sweeps", "DIR/sweeps is a directory, not a sweep file: name one of " + both},
		"empty dir":   {"bare", "DIR/bare is a directory, not a sweep file, and there is none in it: `sweep init DIR/bare/night.yaml` writes one to start from"},
		"pipe":        {"pipe", "DIR/pipe is a named pipe, not a file: save the sweep file and name it, or pipe it into `-`"},
		"socket":      {"socket", "DIR/socket is a socket, not a file: save the sweep file and name it, or pipe it into `-`"},
		"2 GB":        {"empty/huge.yaml", "DIR/empty/huge.yaml has 2.0 GiB, and a sweep file at most 512 KiB: " + "`sweep init` writes one to start from"},
		"dangling":    {"dangling.yaml", "there is no sweep file DIR/dangling.yaml: " + starter},
		"loop":        {"loop.yaml", "too many levels of symbolic links; `ls -ld DIR/loop.yaml` shows what it is"},
		"gzip":        {"a.gz", "DIR/a.gz is compressed (gzip), not a sweep file: " + starter},
		"zip":         {"a.zip", "DIR/a.zip is a ZIP archive, not a sweep file: " + starter},
		"program":     {"sweep", "DIR/sweep is a program, not a sweep file: " + starter},
		"script":      {"a.sh", "DIR/a.sh is a script, not a sweep file: " + starter},
		"binary":      {"a.bin", "DIR/a.bin is a binary file, not a sweep file: " + starter},
		"hosts":       {"sweeps/hosts.yaml", "DIR/sweeps/hosts.yaml is what is known of hosts, not a sweep file: there are " + both + "; `sweep init` writes a new one to start from"},
		"plan":        {"plan.json", "DIR/plan.json is the frozen plan of a night, not a sweep file: " + starter},
		"record":      {"record.json", "DIR/record.json is the record of a run, not a sweep file: " + starter},
		"journal":     {"events.jsonl", "DIR/events.jsonl is the journal of a night, not a sweep file: " + starter},
		"measurement": {"m.json", "DIR/m.json is a record of sweep's, not a sweep file: " + starter},
	} {
		t.Run(name, func(t *testing.T) {
			switch name {
			case "empty dir":
				if err := os.Mkdir(filepath.Join(dir, "bare"), 0o700); err != nil {
					t.Fatal(err)
				}
			case "loop":
				if err := os.Symlink("loop.yaml", filepath.Join(dir, "loop.yaml")); err != nil {
					t.Fatal(err)
				}
				defer os.Remove(filepath.Join(dir, "loop.yaml"))
			default:
				if text, ok := map[string]string{"gzip": "\x1f\x8b\x08", "zip": "PK\x03\x04", "program": "\x7fELF\x02", "script": "#!/bin/sh\n", "binary": "name: a\x00b",
					"plan": `{"schema": 1, "configurations": []}`, "record": `{"schema": 1, "attempt": 1, "argv": []}`,
					"journal": "{\"schema\":1,\"seq\":1}\n{\"schema\":1,\"seq\":2}\n", "measurement": `{"schema": 1}`}[name]; ok {
					defer os.Remove(write(c.file, text))
				}
			}
			text, err := readFile(filepath.Join(dir, c.file), strings.NewReader(""))
			var coded *codeError
			if !errors.As(err, &coded) || coded.code != exitUsage || text != nil {
				t.Fatalf("got %q, %v", text, err)
			}
			if got, want := err.Error(), strings.ReplaceAll(c.want, "DIR", dir); got != want && (strings.HasPrefix(c.want, "there is") || strings.HasPrefix(c.want, "DIR") || !strings.Contains(got, want)) {
				t.Errorf("\ngot  %s\nwant %s", got, want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %s", err)
			}
		})
	}
}

// sized is a file of which only the size is known.
type sized struct {
	fs.FileInfo
	size int64
}

func (s sized) Mode() fs.FileMode  { return 0o644 }
func (s sized) Size() int64        { return s.size }
func (s sized) ModTime() time.Time { return time.Time{} }

// TestFitFile: the bound is that of the decoder, and nothing is read for it.
func TestFitFile(t *testing.T) {
	if err := fitFile("x.yaml", sized{size: sweep.MaxFile}); err != nil {
		t.Error(err)
	}
	if err := fitFile("x.yaml", sized{size: sweep.MaxFile + 1}); err == nil {
		t.Error("one byte too many is taken")
	}
}

// TestUnreadable: what cannot be provoked as root.
func TestUnreadable(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Op: "open", Path: "n.yaml", Err: syscall.EACCES}, "the sweep file n.yaml cannot be read: this user may not; `ls -ld n.yaml` says who may"},
		{syscall.EIO, "the sweep file n.yaml cannot be read: input/output error; `ls -ld n.yaml` shows what it is"},
	} {
		err := unreadable("n.yaml", c.err)
		var coded *codeError
		if err.Error() != c.want || !errors.As(err, &coded) || coded.code != exitUsage {
			t.Errorf("got %v", err)
		}
	}
}

// TestReadFileFromStandardInput: the same bounds and the same code.
func TestReadFileFromStandardInput(t *testing.T) {
	for _, c := range []struct {
		in   io.Reader
		want string
	}{
		{strings.NewReader(strings.Repeat("#", sweep.MaxFile+1)), "what comes on standard input is larger than 512 KiB, the most that a sweep file may have: check what is piped into it"},
		{iotest.ErrReader(syscall.EIO), "standard input cannot be read as a sweep file: input/output error; name the file instead"},
	} {
		_, err := readFile("-", c.in)
		var coded *codeError
		if !errors.As(err, &coded) || coded.code != exitUsage || err.Error() != c.want {
			t.Errorf("got %v", err)
		}
	}
	if text, err := readFile("-", strings.NewReader("name: x\n")); err != nil || string(text) != "name: x\n" {
		t.Errorf("%q, %v", text, err)
	}
}

package move

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFind(t *testing.T) {
	entries := []*Entry{
		{Key: "20261201-010000-demo-aa", Night: "20261201-010001-demo", Name: "demo", Ended: true},
		{Key: "20261202-010000-demo-bb", Night: "20261202-010001-demo", Name: "demo"},
		{Key: "20261203-010000-demo-cc", Night: "20261203-010001-demo", Name: "demo", Ended: true},
		{Key: "20261204-010000-glm5-dd", Name: "glm5"},
		{Key: "20261204-020000-cut-ee", Night: "20261204-020001-cut", Name: "cut", Ended: true},
		{Key: "20261204-030000-cut-ff", Night: "20261204-020001-cut", Name: "cut"},
		{Key: "20261204-040000-cut-00", Night: "20261204-020001-cut", Name: "cut", Ended: true},
	}
	for name, want := range map[string]int{
		"": 5, "last": 5, "cut": 5, "20261204-020001-cut": 5, "20261204-020000-cut-ee": 4, "demo": 1, "glm5": 3, "20261201-010001-demo": 0, "20261203-010000-demo-cc": 2, "20261203": 2, "20261201-0100": 0,
		"nothing": -1, "demo-": -1,
	} {
		found := Find(entries, name)
		switch {
		case want < 0 && found == nil:
		case found == nil || want < 0 || found != entries[want]:
			t.Errorf("%q finds %+v, want entry %d", name, found, want)
		}
	}
	if Find(nil, "") != nil {
		t.Error("found something in nothing")
	}
}

func TestRegistry(t *testing.T) {
	reg := OpenRegistry(t.TempDir())
	if entries, problems, err := reg.List(); len(entries)+len(problems) > 0 || err != nil {
		t.Errorf("%v %v %v before anything was saved", entries, problems, err)
	}
	first, second := time.Date(2026, 12, 1, 1, 0, 0, 0, time.UTC), time.Date(2026, 12, 2, 1, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{second, first} {
		if err := reg.Save(&Entry{Key: NewKey("Über Nacht!", at), Name: "n", Started: at, Alias: "gpu1", Held: 1}); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"broken": "{", "newer": `{"schema":9,"key":"newer","alias":"a","held":1}`, "renamed": `{"schema":1,"key":"x","alias":"a","held":1}`} {
		if err := os.WriteFile(filepath.Join(reg.dir, name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	entries, problems, err := reg.List()
	if err != nil || len(entries) != 2 || !entries[0].Started.Equal(first) || len(problems) != 3 {
		t.Errorf("%+v %v %v", entries, problems, err)
	}
	info, err := os.Stat(reg.path(entries[0].Key))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	entries[1].Ended = true
	if err := reg.Save(entries[1]); err != nil {
		t.Fatal(err)
	}
	reg.Prune(second.Add(29 * 24 * time.Hour))
	if now, _, _ := reg.List(); len(now) != 2 {
		t.Errorf("%d entries after 29 days", len(now))
	}
	reg.Prune(second.Add(31 * 24 * time.Hour))
	if now, _, _ := reg.List(); len(now) != 1 || now[0].Ended {
		t.Errorf("%d entries after 31 days", len(now))
	}
	if err := reg.Forget(entries[0]); err != nil {
		t.Error(err)
	}
	if entries, _, _ := reg.List(); len(entries) != 0 {
		t.Errorf("%d entries after one was forgotten", len(entries))
	}
}

func TestNewKeyIsADirectory(t *testing.T) {
	for _, name := range []string{"glm5", "../../etc", "", strings.Repeat("x", 500), "a/b\x00c\n"} {
		if key := NewKey(name, time.Now()); checkPart(key) != nil || len(key) > 80 {
			t.Errorf("%q makes the key %q", name, key)
		}
	}
}

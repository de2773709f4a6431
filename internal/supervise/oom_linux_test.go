package supervise

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOOMKilled(t *testing.T) {
	mount := t.TempDir()
	put := func(path, text string) {
		t.Helper()
		path = filepath.Join(mount, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("memory/lxc/a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n")
	put("memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 9\n")
	put("system.slice/x/memory.events", "low 0\nhigh 0\nmax 4\noom 1\noom_kill 1\noom_group_kill 0\n")
	for _, c := range []struct {
		name, cgroups string
		want          uint64 // 0: unknown
	}{
		{"v1", "9:cpu:/lxc/a\n4:memory:/lxc/a\n0::/\n", 3},
		{"v1 without a namespace", "4:hugetlb,memory:/not/mounted/here\n", 9},
		{"v2", "0::/system.slice/x\n", 1},
		{"v2 root", "0::/\n", 0},
		{"none", "9:cpu:/\n", 0},
		{"garbage", "memory\n::\n", 0},
	} {
		got := oomKills(oomCounter(c.cgroups, mount))
		if (got == nil) != (c.want == 0) || got != nil && *got != c.want {
			t.Errorf("%s: got %v, want %d", c.name, got, c.want)
		}
	}
	one, two := uint64(1), uint64(2)
	if k := oomKilled(&one, &two); k == nil || !*k {
		t.Error("a counter that rose is a kill")
	}
	if k := oomKilled(&two, &two); k == nil || *k {
		t.Error("a counter that stayed is no kill")
	}
	if oomKilled(nil, &two) != nil || oomKilled(&one, nil) != nil {
		t.Error("an unread counter must give unknown, not a claim")
	}
}

package sweep

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestDeadlineAfter: the next time it is that late, in the deadline's own zone,
// over midnight and over the nights when clocks change.
func TestDeadlineAfter(t *testing.T) {
	for _, c := range []struct {
		deadline  Deadline
		now, want string
	}{
		{Deadline{7, 0, "Europe/Prague"}, "2026-12-01T21:00:00Z", "2026-12-02T07:00:00+01:00"},
		{Deadline{7, 0, "Europe/Prague"}, "2026-12-02T05:59:00Z", "2026-12-02T07:00:00+01:00"},
		{Deadline{7, 0, "Europe/Prague"}, "2026-12-02T06:00:00Z", "2026-12-03T07:00:00+01:00"},
		{Deadline{7, 0, "America/New_York"}, "2026-12-01T21:00:00Z", "2026-12-02T07:00:00-05:00"},
		{Deadline{2, 30, "Europe/Prague"}, "2026-03-28T22:00:00Z", "2026-03-29T03:30:00+02:00"}, // 02:30 is skipped
		{Deadline{7, 0, "Europe/Prague"}, "2026-10-24T22:30:00Z", "2026-10-25T07:00:00+01:00"},
		{Deadline{Hour: 7}, "2026-12-01T21:00:00Z", "2026-12-02T07:00:00+05:30"}, // the host's zone
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.deadline.After(now, time.FixedZone("IST", 5*3600+1800))
		if err != nil || got.Format(time.RFC3339) != c.want {
			t.Errorf("%s after %s: %s, %v, want %s", c.deadline, c.now, got.Format(time.RFC3339), err, c.want)
		}
	}
	if _, err := (Deadline{Zone: "Nowhere"}).After(time.Now(), time.UTC); err == nil || err.Error() != "the deadline 00:00 Nowhere: unknown time zone Nowhere" {
		t.Errorf("got %v", err)
	}
}

// TestEnvFile: systemd's and docker's forms; an error names the line, never
// its text.
func TestEnvFile(t *testing.T) {
	settings, err := EnvFile([]byte("\ufeff# comment\r\nA=1\r\n\n; other\nexport B = two words \nC=\"quoted # x\"\nD='a'b'\nE=\nF=a=b"))
	if err != nil {
		t.Fatal(err)
	}
	got := Configuration{Env: settings}.Environ()
	if diff := cmp.Diff([]string{"A=1", "B=two words", "C=quoted # x", "D=a'b", "E=", "F=a=b"}, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"A=1\nhf_secret\n", "A=1\n1A=hf_secret", "A=1\nA B=hf_secret", "A=1\nA=hf\x00secret"} {
		if _, err := EnvFile([]byte(bad)); err == nil || err.Error() != "line 2 is not NAME=value" {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

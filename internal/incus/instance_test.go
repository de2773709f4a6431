package incus

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInstance(t *testing.T) {
	in, err := script(t, "", isStatus(Running)).Instance(t.Context(), "x")
	if err != nil || in.Name != "x" || in.Status != Running || in.Config["user.sweep.run"] != "r1" || in.Created.Year() != 2026 {
		t.Errorf("got %+v, %v", in, err)
	}
	if _, err = script(t, "", notFound.on(instanceX)).Instance(t.Context(), "x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

// A name that is not plain is one segment of the path, whatever is in it.
func TestPathIsEscaped(t *testing.T) {
	c := script(t, "a&b c", step{want: "GET /1.0/instances/..%2Fprojects%3Fx?project=a%26b+c", status: 400, answer: refusal(400, "bad")})
	if _, err := c.Instance(t.Context(), "../projects?x"); err == nil {
		t.Error("there is no error")
	}
}

func TestMissingProject(t *testing.T) {
	noProject := step{status: 404, answer: refusal(404, "Project not found")}
	for name, steps := range map[string][]step{
		// Whatever words the daemon has for it.
		"by a look": {step{want: "GET /1.0/instances/x?project=night", status: 404, answer: refusal(404, "Not Found")}, noProject.on("GET /1.0/projects/night?project=night")},
		"by words":  {noProject.on("GET /1.0/instances/x?project=night"), noProject.on("GET /1.0/projects/night?project=night")},
	} {
		if _, err := script(t, "night", steps...).Instance(t.Context(), "x"); !errors.Is(err, ErrProject) {
			t.Errorf("%s: got %v, want ErrProject", name, err)
		}
	}
	there := []step{{want: "GET /1.0/instances/x?project=night", status: 404, answer: refusal(404, "Not Found")}, {want: "GET /1.0/projects/night?project=night", answer: sync200(`{"name":"night"}`)}}
	if _, err := script(t, "night", there...).Instance(t.Context(), "x"); !errors.Is(err, ErrNotFound) || errors.Is(err, ErrProject) {
		t.Errorf("the project is there: got %v, want ErrNotFound", err)
	}
}

func TestInstances(t *testing.T) {
	list := sync200(`[{"name":"b","config":{"user.sweep.run":"r1","user.sweep.sweep":"a b"}},{"name":"a","config":{"user.sweep.run":"r1","user.sweep.sweep":"a b"}},
		{"name":"other","config":{"user.sweep.run":"r2","user.sweep.sweep":"a b"}},{"name":"none","config":null}]`)
	for _, c := range []struct {
		config map[string]string
		query  string
		want   []string
	}{
		{map[string]string{"user.sweep.run": "r1", "user.sweep.sweep": "a b"}, "filter=config.user.sweep.run+eq+r1&", []string{"a", "b"}},
		{map[string]string{"user.sweep.run": ""}, "", []string{"a", "b", "other"}},
		{map[string]string{"user.sweep.run": "r2", "user.sweep.night": ""}, "filter=config.user.sweep.run+eq+r2&", nil},
		{map[string]string{"user.sweep.run": "r.*"}, "", nil}, // the daemon would take it for an expression
		{map[string]string{"user.sweep.run) or (x": "r1"}, "", nil},
		{nil, "", []string{"a", "b", "none", "other"}},
	} {
		all, err := script(t, "", step{want: "GET /1.0/instances?" + c.query + "project=default&recursion=1", answer: list}).Instances(t.Context(), c.config)
		var got []string
		for _, in := range all {
			got = append(got, in.Name)
		}
		if err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("%v: got %v, %v, want %v", c.config, got, err, c.want)
		}
	}
}

// A list in a project that is not there is empty, and no error of the daemon's.
func TestInstancesOfMissingProject(t *testing.T) {
	c := script(t, "night", step{want: "GET /1.0/instances?project=night&recursion=1", answer: sync200("[]")},
		step{want: "GET /1.0/projects/night?project=night", status: 404, answer: refusal(404, "Project not found")})
	if _, err := c.Instances(t.Context(), nil); !errors.Is(err, ErrProject) {
		t.Errorf("got %v, want ErrProject", err)
	}
}

func TestState(t *testing.T) {
	c := script(t, "", step{want: "GET /1.0/instances/x/state?project=default", answer: sync200(`{"status":"Running","status_code":103,"disk":{},
		"memory":{"usage":651264,"usage_peak":1859584,"total":24683584000},"pid":7911,"processes":2,"started_at":"2026-12-01T11:11:55.300430378Z",
		"network":{"lo":{"addresses":[{"family":"inet","address":"127.0.0.1","netmask":"8","scope":"local"}],"type":"loopback"},
		"eth0":{"addresses":[{"family":"inet6","address":"fe80::1","netmask":"64","scope":"link"},{"family":"inet","address":"10.77.7.103","netmask":"24","scope":"global"},{"address":"rubbish"}],"type":"broadcast"}}}`)},
		step{want: "GET /1.0/instances/x/state?project=default", answer: sync200(`{"status":"Stopped","status_code":102,"disk":{},"memory":{"usage":0},"network":null,"pid":0,"processes":0,"started_at":"0001-01-01T00:00:00Z"}`)})
	s, err := c.State(t.Context(), "x")
	if err != nil || s.Status != Running || s.PID != 7911 || s.Processes != 2 || s.Memory != 651264 || s.MemoryPeak != 1859584 || len(s.Addresses) != 2 || s.IPv4().String() != "10.77.7.103" {
		t.Errorf("got %+v, %v", s, err)
	}
	s, err = c.State(t.Context(), "x")
	if err != nil || s.Status != Stopped || s.PID != 0 || s.IPv4().IsValid() || !s.Started.IsZero() {
		t.Errorf("stopped: got %+v, %v", s, err)
	}
}

package incus

import (
	"errors"
	"testing"
)

var (
	aliasTiny = step{want: "GET /1.0/images/aliases/tiny?project=default", answer: sync200(`{"description":"","target":"16a77ba1","name":"tiny","type":"container"}`)}
	imageTiny = step{want: "GET /1.0/images/16a77ba1?project=default", answer: sync200(`{"properties":{"os":"busybox"},"fingerprint":"16a77ba1","size":1037486}`)}
	free      = notFound.on(instanceX)
	create    = "POST /1.0/instances?project=default"
	fromTiny  = `{"name":"x","type":"container","ephemeral":false,"source":{"type":"image","fingerprint":"16a77ba1"}}`
)

func TestCreate(t *testing.T) {
	err := script(t, "", free, aliasTiny, imageTiny,
		step{want: create, answer: accepted, status: 202, body: `{"name":"x","type":"container","ephemeral":true,"profiles":["default","gpu"],
			"config":{"user.sweep.run":"r1"},"devices":{"g":{"type":"gpu","pci":"0000:3b:00.0"}},"source":{"type":"image","fingerprint":"16a77ba1"}}`},
		step{want: waitGet, answer: opDone},
	).Create(t.Context(), CreateRequest{Name: "x", Image: "tiny", Ephemeral: true, Profiles: []string{"default", "gpu"},
		Config: map[string]string{"user.sweep.run": "r1"}, Devices: map[string]map[string]string{"g": GPU("0000:3b:00.0")}})
	if err != nil {
		t.Error(err)
	}
	err = script(t, "", free, step{want: "GET /1.0/instances/base?project=default", answer: sync200(`{"name":"base"}`)},
		step{want: create, answer: accepted, status: 202, body: `{"name":"x","type":"container","ephemeral":false,"profiles":[],"source":{"type":"copy","source":"base","instance_only":true}}`},
		step{want: waitGet, answer: opDone},
	).Create(t.Context(), CreateRequest{Name: "x", CopyOf: "base", Profiles: []string{}})
	if err != nil {
		t.Errorf("copy: %v", err)
	}
}

func TestCreateRefused(t *testing.T) {
	posted := step{want: create, body: fromTiny, answer: accepted}
	failing := func(code int, text string) []step { // HTTP 200, and failed
		return []step{free, aliasTiny, imageTiny, posted, {want: waitGet, answer: refusal(code, text)}}
	}
	for name, c := range map[string]struct {
		steps []step
		want  error
	}{
		"name taken": {[]step{isStatus(Stopped)}, ErrExists},
		"name taken in between": {failing(500, `Failed creating instance record: Add instance info to the database: Failed to create "instances" entry: UNIQUE constraint failed: instances.project_id, instances.name`),
			ErrExists},
		"no image": {[]step{free, {want: aliasTiny.want, status: 404, answer: refusal(404, "Image alias not found")},
			{want: "GET /1.0/images/tiny?project=default", status: 404, answer: refusal(404, `Image "tiny" not found`)}}, ErrImage},
		"no image any more": {failing(500, "Image not provided for instance creation"), ErrImage},
		"pool full":         {failing(500, "Failed creating instance from image: Unpack failed: write /x: no space left on device"), ErrPoolFull},
		"quota":             {failing(500, "unsquashfs: Disk quota exceeded"), ErrPoolFull},
		"going down":        {failing(503, "whatever"), ErrShuttingDown},
		"bad project":       {[]step{{want: instanceX, status: 404, answer: refusal(404, "Project not found")}, {want: "GET /1.0/projects/default?project=default", status: 404, answer: refusal(404, "Project not found")}}, ErrProject},
		"bad name":          {[]step{free, aliasTiny, imageTiny, {want: create, body: fromTiny, status: 400, answer: refusal(400, "Invalid instance name: Name can only contain alphanumeric and hyphen characters")}}, nil},
	} {
		err := script(t, "", c.steps...).Create(t.Context(), CreateRequest{Name: "x", Image: "tiny"})
		if e, ok := errors.AsType[*Error](err); !ok || c.want != nil && !errors.Is(err, c.want) || e.Op != "create the instance x" {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	c := New("/nowhere", "")
	for _, r := range []CreateRequest{{Name: "x"}, {Image: "tiny"}, {Name: "x", Image: "tiny", CopyOf: "y"}} {
		if err := c.Create(t.Context(), r); err == nil || errors.Is(err, ErrUnreachable) {
			t.Errorf("%+v: got %v, want a refusal before anything is sent", r, err)
		}
	}
}

// The daemon is lost while it creates: it is not asked again, and what is there
// may be half made.
func TestCreateLost(t *testing.T) {
	for name, seen := range map[string]step{"not there": free, "there": isStatus(Stopped)} {
		err := script(t, "", free, aliasTiny, imageTiny, step{want: create, body: fromTiny, status: drop}, seen).Create(t.Context(), CreateRequest{Name: "x", Image: "tiny"})
		if !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: got %v, want ErrUnknown", name, err)
		}
	}
}

package incus

import (
	"errors"
	"testing"
)

func TestPatch(t *testing.T) {
	now := sync200(`{"architecture":"x86_64","config":{"user.sweep.run":"r1","user.old":"1","volatile.uuid":"6c33"},"devices":{"root":{"type":"disk"},"n":{"type":"none"}},
		"ephemeral":true,"profiles":["default"],"stateful":false,"description":"mine","name":"x","status":"Running","expanded_config":{"a":"b"}}`)
	wanted := `{"architecture":"x86_64","config":{"user.sweep.run":"r2","volatile.uuid":"6c33"},"devices":{"root":{"type":"disk"},"p":{"type":"proxy","listen":"tcp:127.0.0.1:1","connect":"tcp:127.0.0.1:2","bind":"host"}},
		"ephemeral":true,"profiles":["default"],"stateful":false,"description":"mine"}`
	config := map[string]string{"user.sweep.run": "r2", "user.old": "", "user.never": ""}
	devices := map[string]map[string]string{"p": Proxy("tcp:127.0.0.1:1", "tcp:127.0.0.1:2"), "n": nil}
	read, put := step{want: instanceX, answer: now, etag: `"one"`}, step{want: "PUT /1.0/instances/x?project=default", body: wanted, match: `"one"`, answer: accepted}
	changed := step{want: put.want, body: wanted, match: `"one"`, status: 412, answer: refusal(412, "Precondition failed")}
	lostPut, done := put, step{want: instanceX, answer: sync200(wanted), etag: `"two"`}
	lostPut.status = drop
	for name, c := range map[string]struct {
		steps []step
		want  error
	}{
		"changed":                  {[]step{read, put, {want: waitGet, answer: opDone}}, nil},
		"by somebody else as well": {[]step{read, changed, read, put, {want: waitGet, answer: opDone}}, nil},
		"already so":               {[]step{done}, nil},
		"lost and done":            {[]step{read, lostPut, done}, nil},
		"lost and not done":        {[]step{read, lostPut, read, put, {want: waitGet, answer: opDone}}, nil},
		"busy":                     {[]step{read, {want: put.want, body: wanted, match: `"one"`, status: 500, answer: refusal(500, `Failed to create instance update operation: Instance is busy running a "stop" operation`)}}, ErrBusy},
		"not there":                {[]step{notFound.on(instanceX)}, ErrNotFound},
	} {
		if err := script(t, "", c.steps...).Patch(t.Context(), "x", config, devices); c.want == nil && err != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func TestGPUs(t *testing.T) {
	all := "GET /1.0/resources?project=default"
	cards, err := script(t, "", step{want: all, answer: sync200(`{"cpu":{},"gpu":{"cards":[
		{"driver":"nvidia","driver_version":"570.1","drm":{"id":1},"numa_node":1,"pci_address":"0000:3b:00.0","vendor":"NVIDIA Corporation","vendor_id":"10de","product":"GH100","product_id":"2335",
		 "nvidia":{"cuda_version":"12.8","nvrm_version":"570.1","brand":"H200","model":"NVIDIA H200","uuid":"GPU-1f2e","architecture":"9.0"}},
		{"driver":"ast","pci_address":"0000:02:00.0","vendor":"ASPEED"}],"total":2}}`)}).GPUs(t.Context())
	if err != nil || len(cards) != 2 || cards[0] != (Card{PCI: "0000:3b:00.0", Vendor: "NVIDIA Corporation", Product: "GH100", Driver: "nvidia", UUID: "GPU-1f2e", Numa: 1}) || cards[1].UUID != "" {
		t.Errorf("got %+v, %v", cards, err)
	}
	if cards, err := script(t, "", step{want: all, answer: sync200(`{"gpu":{"cards":[],"total":0}}`)}).GPUs(t.Context()); err != nil || len(cards) != 0 {
		t.Errorf("none: got %+v, %v", cards, err)
	}
}

func TestImage(t *testing.T) {
	image, err := script(t, "", aliasTiny, imageTiny).Image(t.Context(), "tiny")
	if err != nil || image.Fingerprint != "16a77ba1" || image.Properties["os"] != "busybox" {
		t.Errorf("got %+v, %v", image, err)
	}
	image, err = script(t, "", step{want: "GET /1.0/images/aliases/16a7?project=default", status: 404, answer: refusal(404, "Image alias not found")},
		step{want: "GET /1.0/images/16a7?project=default", answer: imageTiny.answer}).Image(t.Context(), "16a7")
	if err != nil || image.Fingerprint != "16a77ba1" {
		t.Errorf("by the beginning of its fingerprint: got %+v, %v", image, err)
	}
}

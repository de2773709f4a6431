package main

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"sweep/internal/gpu"
	"sweep/internal/sweep"
)

// findings are what a machine was asked for, or what hosts.yaml says of it.
type findings struct {
	GPUs  int    `json:"gpus"`
	NoGPU string `json:"no_gpu,omitempty"` // why none was seen
	Cards string `json:"cards"`

	Python    string   `json:"python,omitempty"` // the interpreter that sglang is installed for
	Sglang    string   `json:"sglang,omitempty"` // its version
	NoPython  string   `json:"no_python,omitempty"`
	Model     string   `json:"model,omitempty"` // the largest one
	ModelSays string   `json:"model_says,omitempty"`
	NoModel   string   `json:"no_model,omitempty"`
	Models    []string `json:"models,omitempty"` // others
}

// lookAround asks this machine. What is inside a container is not known here.
func lookAround(ctx context.Context, host sweep.Host, at surroundings) findings {
	seen := gpu.Look(ctx, at.command)
	f := findings{GPUs: cmp.Or(host.GPUs, len(seen.GPUs))}
	if f.GPUs == 0 {
		f.NoGPU = seen.Note
		f.Cards = "none was seen (" + seen.Note + ")"
	} else {
		f.Cards = cards(seen, f.GPUs)
	}
	if kind := cmp.Or(host.Container.Runtime, sweep.RuntimeProcess); kind != sweep.RuntimeProcess {
		f.unasked(host, "That of a container is not asked")
		return f
	}
	f.python(ctx, at.pythons)
	f.model(ctx, at.models)
	return f
}

// listedFindings are what hosts.yaml says of a host that was not asked.
func listedFindings(host sweep.Host) findings {
	f := findings{GPUs: host.GPUs, Cards: "how many is not known, by hosts.yaml"}
	if host.GPUs > 0 {
		f.Cards = strconv.Itoa(host.GPUs) + ", by hosts.yaml"
	}
	f.unasked(host, "The host could not be asked")
	return f
}

func (s *findings) unasked(host sweep.Host, why string) {
	s.NoPython, s.NoModel = why, "No model-dirs in hosts.yaml"
	if host.ModelDirs != nil {
		s.NoModel = "hosts.yaml says that models are in " + strings.Join(host.ModelDirs, ", ")
	}
}

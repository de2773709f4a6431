package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"

	"sweep/internal/sweep"
)

// onHost lays a sweep file over what hosts.yaml says of its host. The file is
// looked for beside the sweep file, then in the user's config directory; a host
// without an entry is taken as it is.
func onHost(spec *sweep.Spec, file string) (*sweep.Spec, error) {
	places := []string{filepath.Join(xdg.ConfigHome, "sweep", "hosts.yaml")}
	if file != "-" {
		places = append([]string{filepath.Join(filepath.Dir(file), "hosts.yaml")}, places...)
	}
	for _, place := range places {
		text, err := readHosts(place)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, usage("read %s: %w", place, err)
		}
		hosts, err := sweep.DecodeHosts(place, text)
		if err != nil {
			return nil, err
		}
		if host, _, ok := hosts.Find(spec.Host); ok {
			return spec.On(host), nil
		}
		return spec, nil
	}
	return spec, nil
}

func readHosts(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, errors.New("this is not a hosts file")
	}
	return os.ReadFile(path)
}

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"

	"sweep/internal/sweep"
)

// onHost lays a sweep file over what hosts.yaml says of its host; a host
// without an entry is taken as it is.
func onHost(spec *sweep.Spec, file string) (*sweep.Spec, error) {
	hosts, err := hostsFor(file)
	if err != nil {
		return nil, err
	}
	if host, _, ok := hosts.Find(spec.Host); ok {
		return spec.On(host), nil
	}
	return spec, nil
}

// hostsFor reads the hosts.yaml that counts for a sweep file; where there is
// none it knows no host and its File is empty.
func hostsFor(file string) (*sweep.Hosts, error) {
	for _, place := range hostsPlaces(file) {
		text, err := readHosts(place)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, usage("read %s: %w", place, err)
		}
		return sweep.DecodeHosts(place, text)
	}
	return new(sweep.Hosts), nil
}

// hostsPlaces are where hosts.yaml may be, the first counts: beside the sweep
// file, in the user's config directory.
func hostsPlaces(file string) []string {
	places := []string{filepath.Join(xdg.ConfigHome, "sweep", "hosts.yaml")}
	if file != "-" {
		places = append([]string{filepath.Join(filepath.Dir(file), "hosts.yaml")}, places...)
	}
	return places
}

func readHosts(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > sweep.MaxFile {
		return nil, errors.New("this is not a hosts file")
	}
	return os.ReadFile(path)
}

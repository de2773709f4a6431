package check

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sweep/internal/supervise"
)

// Place is what the place is like that a server will run in. Null is unknown.
type Place struct {
	User    int      `json:"user"` // that servers run as
	Boot    string   `json:"boot"`
	Devices []string `json:"devices"` // GPU device nodes in /dev
	Locked  []string `json:"locked"`  // of these, which cannot be opened, and why
	Module  string   `json:"module"`  // version of the NVIDIA kernel module that runs
	Library string   `json:"library"` // version of the NVIDIA library that is here
	Shm     *Disk    `json:"shm"`
	Dir     *Disk    `json:"dir"`     // where sweep's things are
	DirTry  string   `json:"dir_try"` // why nothing can be written there; "" when it can
	Memlock *uint64  `json:"memlock"` // hard limit, bytes; Unlimited
	NoFile  *uint64  `json:"nofile"`  // hard limit: servers raise the soft one themselves
	Ports   []Held   `json:"ports"`   // of those asked for, which are taken
	Program string   `json:"program"` // the interpreter's full path
	NoProg  string   `json:"no_program"`
	NVCC    string   `json:"nvcc"` // full paths; "": not there
	Ninja   string   `json:"ninja"`
	Caches  []Cache  `json:"caches"`
	EnvFile string   `json:"env_file"` // why it cannot be read
	Offline bool     `json:"offline"`  // HF_HUB_OFFLINE is set
}

// Unlimited is a limit that is none.
const Unlimited = ^uint64(0)

// Disk is a file system at a path.
type Disk struct {
	Path  string `json:"path"`
	Mount string `json:"mount"` // where it is mounted
	Type  string `json:"type"`
	Total uint64 `json:"total"` // bytes
	Free  uint64 `json:"free"`  // for this user
}

// Held is a port that somebody listens on.
type Held struct {
	Port int    `json:"port"`
	By   string `json:"by"` // "" where it cannot be seen
}

// Cache is a directory that compiled kernels are kept in.
type Cache struct {
	Name string `json:"name"`
	Path string `json:"path"`
	Disk *Disk  `json:"disk"` // of it, or of where it would be made
	Try  string `json:"try"`  // why nothing can be written there; "" when it can
}

func tellPlace(q Question, env environment, envErr error) Place {
	p := Place{User: os.Geteuid(), Module: moduleVersion(), Library: libraryVersion()}
	p.Boot = firstLine("/proc/sys/kernel/random/boot_id", "")
	p.Devices, _ = filepath.Glob("/dev/nvidia*")
	p.Devices = slices.DeleteFunc(p.Devices, func(d string) bool { return !isDevice(d) })
	for _, d := range p.Devices {
		if f, err := os.OpenFile(d, os.O_RDWR, 0); err == nil {
			f.Close()
		} else if strings.HasPrefix(filepath.Base(d), "nvidia") {
			p.Locked = append(p.Locked, d+": "+plainError(err))
		}
	}
	if envErr != nil {
		p.EnvFile = plainError(envErr)
	}
	p.Shm, p.Dir = diskOf("/dev/shm"), diskOf(q.Dir)
	p.DirTry = tryWrite(q.Dir)
	p.Memlock, p.NoFile = hardLimits()
	p.Ports = heldPorts(q.Ports)
	find := func(name string) string { path, _ := supervise.Program(name, env.list()); return path }
	p.NVCC, p.Ninja = cmp.Or(find("nvcc"), nvccOf(env)), find("ninja")
	if q.Program != "" {
		path, err := supervise.Program(q.Program, env.list())
		if err == nil {
			err = runnable(path)
		}
		if p.Program = path; err != nil {
			p.NoProg = q.Program + " is no program that can be run"
			if !strings.Contains(q.Program, "/") {
				p.NoProg = q.Program + " is not in the server's PATH"
			} else if errors.Is(err, fs.ErrNotExist) {
				p.NoProg = "there is no " + q.Program
			}
		}
	}
	for _, c := range cachesOf(env) {
		c.Disk = diskOf(c.Path)
		if info, err := os.Stat(c.Path); err == nil && info.IsDir() {
			c.Try = tryWrite(c.Path)
		}
		p.Caches = append(p.Caches, c)
	}
	offline := strings.ToLower(env["HF_HUB_OFFLINE"])
	p.Offline = offline == "1" || offline == "true" || offline == "yes" || offline == "on"
	return p
}

// nvccOf is the compiler where CUDA_HOME or the usual place have it.
func nvccOf(env environment) string {
	path := filepath.Join(cmp.Or(env["CUDA_HOME"], env["CUDA_PATH"], "/usr/local/cuda"), "bin", "nvcc")
	if runnable(path) != nil {
		return ""
	}
	return path
}

// cachesOf are where what is compiled at a first start is kept, by the
// variables that move them.
func cachesOf(env environment) []Cache {
	home := cmp.Or(env["HOME"], "/root")
	base := cmp.Or(env["XDG_CACHE_HOME"], filepath.Join(home, ".cache"))
	return []Cache{
		{Name: "flashinfer", Path: filepath.Join(cmp.Or(env["FLASHINFER_WORKSPACE_BASE"], home), ".cache", "flashinfer")},
		{Name: "triton", Path: cmp.Or(env["TRITON_CACHE_DIR"], filepath.Join(cmp.Or(env["TRITON_HOME"], home), ".triton", "cache"))},
		{Name: "torchinductor", Path: cmp.Or(env["TORCHINDUCTOR_CACHE_DIR"], filepath.Join("/tmp", "torchinductor_"+cmp.Or(env["USER"], "root")))},
		{Name: "deep_gemm", Path: cmp.Or(env["SGLANG_DG_CACHE_DIR"], env["SGL_DG_CACHE_DIR"], filepath.Join(base, "deep_gemm"))},
		{Name: "sglang", Path: cmp.Or(env["SGLANG_CACHE_DIR"], filepath.Join(base, "sglang"))},
	}
}

func isDevice(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&fs.ModeDevice != 0
}

// runnable says why a program cannot be run; nil when it can.
func runnable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir() || info.Mode()&0o111 == 0:
		return errors.New(path + " is no program")
	}
	return nil
}

// tryWrite does what a server does with its results and caches: write a file,
// rename it, remove it. It says what went wrong.
func tryWrite(dir string) string {
	f, err := os.CreateTemp(dir, ".sweep-check-")
	if err != nil {
		return plainError(err)
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString("sweep check\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return plainError(err)
	}
	moved := f.Name() + ".moved"
	defer os.Remove(moved)
	if err := os.Rename(f.Name(), moved); err != nil {
		return plainError(err)
	}
	return ""
}

// plainError is an error without the path that begins it.
func plainError(err error) string {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err.Error()
	}
	if link := (*os.LinkError)(nil); errors.As(err, &link) {
		return link.Err.Error()
	}
	return err.Error()
}

var versionPattern = regexp.MustCompile(`\b([0-9]{3,4}\.[0-9]+(?:\.[0-9]+)?)\b`)

// moduleVersion is the version of the NVIDIA kernel module that runs, the same
// in all containers of a host.
func moduleVersion() string {
	return versionPattern.FindString(firstLine("/proc/driver/nvidia/version", ""))
}

// libraryVersion is that of the NVIDIA library that programs here would load.
func libraryVersion() string {
	for _, dir := range []string{"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/nvidia/lib64"} {
		found, _ := filepath.Glob(filepath.Join(dir, "libnvidia-ml.so.*.*"))
		slices.Sort(found)
		for _, path := range slices.Backward(found) {
			if v := versionPattern.FindString(strings.TrimPrefix(filepath.Base(path), "libnvidia-ml.so.")); v != "" {
				return v
			}
		}
	}
	return ""
}

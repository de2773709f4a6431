package bench

import (
	"runtime"
	"syscall"
	"time"
)

// usage is the processor time that this process has used, user and system.
func usage() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return -1
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// cores is how many processors this process may use at once: the runtime looks
// at affinity and at the cgroup's quota.
func cores() int { return runtime.GOMAXPROCS(0) }

package runner

import (
	"context"

	"sweep/internal/check"
	"sweep/internal/gpu"
	"sweep/internal/sweep"
)

// HostFacts reads what is known of this host before anything starts.
func HostFacts(ctx context.Context, c gpu.Commander) sweep.HostFacts {
	return check.HostFacts(ctx, c)
}

// Local runs short commands on this host.
type Local = check.Local

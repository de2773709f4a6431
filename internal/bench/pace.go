package bench

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"time"
)

// maxRate bounds the rate of an open loop, in requests a second: beyond it the
// gaps are shorter than a send takes.
const maxRate = 100_000

// times are the moments, from the start, at which an open loop sends its
// requests; nil for the other modes. They depend on the level and the workload's
// seed alone, so that every configuration is sent the same traffic. The first
// request goes out at once, as sglang.bench_serving has it.
func (l Level) times() []time.Duration {
	if l.Mode != Open {
		return nil
	}
	sum := sha256.Sum256(binary.LittleEndian.AppendUint32([]byte(l.Key()+"/arrivals/"), l.Workload.Seed))
	stream := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])))
	all := make([]time.Duration, l.requests())
	at := 0.0 // seconds
	for i := range all {
		all[i] = time.Duration(at * float64(time.Second))
		gap := 1 / l.Rate
		if l.Arrival == Poisson {
			gap *= stream.ExpFloat64()
		}
		at += gap
	}
	return all
}

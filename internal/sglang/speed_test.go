package sglang

import (
	"bytes"
	"testing"
)

func BenchmarkLogReader(b *testing.B) {
	for name, line := range map[string]string{
		"batch":  "[2026-08-07 03:05:00 TP0] Decode batch, #running-req: 32, #token: 12345, token usage: 0.04, cuda graph: True, gen throughput (token/s): 841.02, #queue-req: 0\n",
		"other":  "[2026-08-07 03:05:00 TP0] Some information about the model that is loaded now, with a number 12345 and a path /models/x\n",
		"access": "[2026-08-07 03:05:00] INFO:     127.0.0.1:51234 - \"POST /generate HTTP/1.1\" 200 OK\n",
	} {
		b.Run(name, func(b *testing.B) {
			chunk := bytes.Repeat([]byte(line), 100)
			b.SetBytes(int64(len(chunk)))
			r := NewLogReader()
			for b.Loop() {
				r.Feed(t0, chunk)
			}
		})
	}
}

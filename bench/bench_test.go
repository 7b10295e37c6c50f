package main

import (
	"testing"
)

func BenchmarkAll(b *testing.B) {
	for _, w := range workloads() {
		for _, c := range w.contestants {
			b.Run("workload="+w.id+"/by="+c.by, func(b *testing.B) { w.bench(b, c) })
		}
	}
}

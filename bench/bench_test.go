package main

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func BenchmarkAll(b *testing.B) {
	for _, w := range workloads() {
		for _, c := range w.contestants {
			by := strings.ReplaceAll(c.by, "/", "-") // for benchstat a slash is the end of it
			b.Run("workload="+w.id+"/by="+by, func(b *testing.B) { w.bench(b, c) })
		}
	}
}

func TestEveryContestantDoesTheWork(t *testing.T) {
	for _, w := range workloads() {
		for _, c := range w.contestants {
			t.Run(w.id+"/"+c.by, func(t *testing.T) {
				assert.NotEmpty(t, c.how)
				var calls atomic.Int64
				run := c.make(&calls)()
				for n := int64(1); n <= 2; n++ { // the second is not to live on the first
					v, err := run()
					assert.Equal(t, n*w.calls, calls.Load(), "calls in all")
					if w.err != nil {
						assert.ErrorIs(t, err, w.err)
						continue
					}
					assert.NoError(t, err)
					if w.value != 0 {
						assert.Equal(t, w.value, v)
					}
				}
			})
		}
	}
}

func TestEveryDelayIsDrawnBelowItsCap(t *testing.T) {
	for _, c := range drawn() {
		sum, err := c.make(nil)()()
		assert.NoError(t, err)
		assert.Positive(t, sum, c.by)
		assert.Less(t, time.Duration(sum), 8*2*usual.limit, c.by) // some add the jitter to the cap
	}
}

func TestTheToolkitAllocatesWhatIsSaid(t *testing.T) {
	for _, w := range workloads() {
		run := w.contestants[ours].make(nil)()
		got := testing.AllocsPerRun(5, func() { _, _ = run() })
		if w.most {
			assert.LessOrEqual(t, got, w.allocs, w.id)
		} else {
			assert.Equal(t, w.allocs, got, w.id)
		}
	}
}

func TestEveryCrowdWaitsAndEnds(t *testing.T) {
	names, by := starters()
	for _, name := range names {
		c := measureCrowd(by[name], 100)
		assert.Positive(t, c.Start, name)
		assert.Positive(t, c.Cancel, name)
		if name == "dacapo" {
			assert.Zero(t, c.Goroutines)
		}
	}
	assert.Equal(t, []string{"by hand", "dacapo"}, names[:2])
}

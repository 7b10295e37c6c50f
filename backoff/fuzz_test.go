package backoff_test

import (
	"math"
	"testing"
	"time"

	"github.com/dacapo-go/dacapo/backoff"
)

// FuzzDelay tries the arithmetic of every jitter over every duration and every
// float64 bit pattern: the window is sound, or the settings are a fault.
func FuzzDelay(f *testing.F) {
	f.Add(int64(100e6), math.Float64bits(2), math.Float64bits(0.2), int64(1e9), int64(5e9), 3, int64(1e6), uint64(1<<63))
	f.Add(int64(1), math.Float64bits(math.NaN()), uint64(1<<63), int64(-1), int64(math.MaxInt64), math.MaxInt, int64(-1), uint64(math.MaxUint64))
	f.Add(int64(math.MaxInt64), math.Float64bits(math.Nextafter(1, 2)), uint64(1), int64(math.MaxInt64), int64(math.MaxInt64), math.MinInt, int64(math.MaxInt64), uint64(0))
	f.Fuzz(func(t *testing.T, first int64, factor, fraction uint64, extra, top int64, n int, prev int64, u uint64) {
		d := time.Duration(extra)
		base := backoff.Exponential(time.Duration(first), math.Float64frombits(factor)).Cap(time.Duration(top))
		for _, s := range []backoff.Strategy{
			base, base.FullJitter(), base.EqualJitter(), base.ProportionalJitter(math.Float64frombits(fraction)),
			base.AdditiveJitter(d), base.SpringJitter(d), base.Floor(d), backoff.Decorrelated(time.Duration(first)).Cap(time.Duration(top)),
			backoff.Linear(time.Duration(first), d).Then(3, base).Cap(time.Duration(top)), backoff.Fibonacci(d).Cap(time.Duration(top)),
		} {
			lo, hi := s.Bounds(n)
			got := s.Delay(n, time.Duration(prev), u)
			if s.Err() != nil {
				if lo != 0 || hi != 0 || got != 0 {
					t.Fatalf("a faulty strategy waits %v of [%v, %v): %v", got, lo, hi, s.Err())
				}
				continue
			}
			if lo < 0 || got < lo || got > max(lo, hi-1) || hi > time.Duration(top) {
				t.Fatalf("%v is outside [%v, %v) under a cap of %v", got, lo, hi, time.Duration(top))
			}
		}
	})
}

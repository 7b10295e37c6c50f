package retry_test

import (
	"context"
	"errors"
	"testing"

	"github.com/dacapo-go/dacapo/retry"
)

// The loops written by hand, to compare with: what a careful author writes who
// needs no more than this one case. They are called through a variable, as Do
// is called with an operation that the compiler does not see.

func handLoop(ctx context.Context, retries int, op func(context.Context) (int, error)) (int, error) {
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		v, err := op(ctx)
		if err == nil || n >= retries {
			return v, err
		}
	}
}

type final struct{ error }

func (f *final) Unwrap() error { return f.error }

// handLoopMarked is handLoop that also looks for a marker through Unwrap.
func handLoopMarked(ctx context.Context, retries int, op func(context.Context) (int, error)) (int, error) {
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		v, err := op(ctx)
		if err == nil || n >= retries {
			return v, err
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			if f, ok := e.(*final); ok {
				return v, f.error
			}
		}
	}
}

var (
	handLoopOf       = handLoop
	handLoopMarkedOf = handLoopMarked
	handLasting      = error(&final{errBoom})
)

func BenchmarkDo(b *testing.B) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	third := thirdTime()
	handRefuse := func(context.Context) (int, error) { return 0, handLasting }
	policy := atTheCall()
	for _, c := range []struct {
		name         string
		hand, dacapo func()
	}{
		{"success", func() { _, _ = handLoopOf(ctx, 3, succeed) }, func() { _, _ = retry.Do(ctx, policy, succeed) }},
		{"policy at the call", func() { _, _ = handLoopOf(ctx, 3, succeed) }, func() { _, _ = retry.Do(ctx, atTheCall(), succeed) }},
		{"two failures", func() { _, _ = handLoopOf(ctx, 3, third) }, func() { _, _ = retry.Do(ctx, noWait, third) }},
		{"permanent", func() { _, _ = handLoopMarkedOf(ctx, 3, handRefuse) }, func() { _, _ = retry.Do(ctx, noWait, refuse) }},
		{"exhausted", func() { _, _ = handLoopOf(ctx, 3, fail) }, func() { _, _ = retry.Do(ctx, noWait, fail) }},
	} {
		b.Run("case="+c.name+"/of=hand", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.hand()
			}
		})
		b.Run("case="+c.name+"/of=dacapo", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.dacapo()
			}
		})
	}
}

func BenchmarkDoParallel(b *testing.B) {
	policy := atTheCall()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_, _ = retry.Do(context.Background(), policy, succeed)
		}
	})
}

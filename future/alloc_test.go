package future_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dacapo-go/dacapo/future"
)

var there = future.Value(1)

func always(int) *future.Future[int] { return there }

func double(v int) (int, error) { return 2 * v, nil }

func TestAllocationsAreAsPromised(t *testing.T) {
	background := context.Background()
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	settled, failed := future.Value(1), future.Failed[int](errBoom)
	ops := repeated(100, one)
	for name, c := range map[string]struct {
		most float64
		run  func()
	}{
		"Go and Await":                           {2, func() { _, _ = future.Go(background, one).Await(background) }},
		"… with a context that can end":          {3, func() { _, _ = future.Go(ctx, one).Await(ctx) }},
		"Await of what is there":                 {0, func() { _, _ = settled.Await(background) }},
		"… with a context that can end ":         {0, func() { _, _ = settled.Await(ctx) }},
		"… of a failure":                         {0, func() { _, _ = failed.Await(ctx) }},
		"Value":                                  {1, func() { future.Value(1) }},
		"New and Resolve":                        {1, func() { p, _ := future.New[int](); p.Resolve(1) }},
		"Map of what is there":                   {1, func() { future.Map(settled, double) }},
		"Map of what runs":                       {4, func() { p, f := future.New[int](); future.Map(f, double); future.Map(f, double); p.Resolve(1) }}, // a work list, too
		"FlatMap":                                {1, func() { future.FlatMap(settled, always) }},
		"Recover":                                {1, func() { future.Recover(failed, func(error) (int, error) { return 1, nil }) }},
		"RunAll of 100, one after the other":     {12, func() { _, _ = future.RunAll(background, 1, ops...) }},
		"Retry that succeeds at once, and Await": {3, func() { _, _ = future.Retry(background, noWait, one).Await(background) }},
	} {
		assert.LessOrEqual(t, testing.AllocsPerRun(200, c.run), c.most, name)
	}
}

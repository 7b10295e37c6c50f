package budget_test

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/budget"
)

// kindOf is what an operation did to a budget, and what it was told.
type kindOf int

const (
	allowedOne kindOf = iota
	refusedOne
	allowedThree
	refusedThree
	deposited
	kinds
)

// operation is one that took from one instant to another.
type operation struct {
	kind     kindOf
	from, to int64
}

// A history is linearisable if its operations can be put into an order, in which one that
// ended before another began comes first, and in which a budget used by one goroutine would
// have said the same. Operations of one kind are alike: of those that may come next, the one
// that ended first does.
type history struct {
	ops  []operation // up to 64, by their ends
	max  int         // in tenths of a token
	seen map[state]bool
}

// state is which operations are done, and how many tenths are left then.
type state struct {
	done   uint64
	tenths int
}

func linearisable(ops []operation, maxTenths int) bool {
	h := history{slices.Clone(ops), maxTenths, map[state]bool{}}
	slices.SortFunc(h.ops, func(a, b operation) int { return cmp.Compare(a.to, b.to) })
	return h.from(state{tenths: maxTenths})
}

// from reports whether the rest can be put in order.
func (h *history) from(at state) bool {
	if h.seen[at] {
		return false
	}
	h.seen[at] = true
	firstEnd, tried := int64(0), [kinds]bool{}
	for i, op := range h.ops {
		if at.done>>i&1 == 1 {
			continue
		}
		if firstEnd == 0 {
			firstEnd = op.to
		}
		if op.from > firstEnd || tried[op.kind] {
			continue
		}
		tried[op.kind] = true
		if tenths, ok := step(op.kind, at.tenths, h.max); ok && h.from(state{at.done | 1<<i, tenths}) {
			return true
		}
	}
	return firstEnd == 0
}

// step says what is left after an operation, and whether it would have been told that.
func step(k kindOf, tenths, most int) (int, bool) {
	switch k {
	case allowedOne:
		return tenths - 10, tenths >= 10
	case refusedOne:
		return tenths, tenths < 10
	case allowedThree:
		return tenths - 30, tenths >= 30
	case refusedThree:
		return tenths, tenths < 30
	}
	return min(tenths+1, most), true
}

func TestABudgetIsLinearisable(t *testing.T) {
	for round := range 300 {
		b := budget.New(budget.Default().Max(3+round%20).Cost(retry.Is(errSlow), 3))
		var clock atomic.Int64
		var wg sync.WaitGroup
		start := make(chan struct{})
		ops := make([]operation, 64)
		for i := range ops {
			wg.Go(func() {
				<-start
				ops[i].from = clock.Add(1)
				ops[i].kind = act(b, (i+round)%3)
				ops[i].to = clock.Add(1)
			})
		}
		close(start)
		wg.Wait()
		require.True(t, linearisable(ops, 10*(3+round%20)), "%+v", ops)
	}
}

func act(b *budget.Budget, what int) kindOf {
	switch what {
	case 0:
		b.Done(succeeded)
		return deposited
	case 1:
		if _, ok := b.Allow(context.Background(), errBusy); ok {
			return allowedOne
		}
		return refusedOne
	}
	if _, ok := b.Allow(context.Background(), errSlow); ok {
		return allowedThree
	}
	return refusedThree
}

func TestTheCheckForAnOrderFindsWhatHasNone(t *testing.T) {
	one := operation{allowedOne, 1, 2}
	require.True(t, linearisable([]operation{one}, 10))
	require.False(t, linearisable([]operation{one}, 9))
	require.False(t, linearisable([]operation{one, {allowedOne, 3, 4}}, 19))
	require.True(t, linearisable([]operation{one, {refusedOne, 1, 4}}, 10))
	require.False(t, linearisable([]operation{{refusedOne, 1, 2}, {allowedOne, 3, 4}}, 10), "refused while there was one")
	require.True(t, linearisable([]operation{{refusedOne, 1, 4}, {allowedOne, 2, 3}}, 10))
}

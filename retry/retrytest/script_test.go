package retrytest_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/retrytest"
)

func TestTheStepsOfAScriptAreThoseOfItsParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, two, three := retrytest.Value(1), retrytest.Value(2), retrytest.Value(3)
		n, m := rapid.IntRange(0, 3).Draw(t, "n"), rapid.IntRange(0, 3).Draw(t, "m")
		op := one.Times(n).Then(two).Times(m).Then(three).Operation()
		var want []int
		for range m {
			for range n {
				want = append(want, 1)
			}
			want = append(want, 2)
		}
		for _, v := range append(want, 3, 3, 3) {
			got, err := op.Call(t.Context())
			require.NoError(t, err)
			require.Equal(t, v, got)
		}
		require.Len(t, op.Calls(), len(want)+3)
	})
}

func TestARefinementChangesACopy(t *testing.T) {
	a := retrytest.Value(1)
	_ = a.Takes(time.Hour)
	_ = a.Then(retrytest.Value(2)).Takes(time.Hour)
	assert.Equal(t, "value(1)", a.String())
}

func TestTheZeroScriptSucceeds(t *testing.T) {
	var s retrytest.Script[string]
	v, err := s.Operation().Call(t.Context())
	assert.NoError(t, err)
	assert.Empty(t, v)
	assert.Equal(t, s, retrytest.Value("").Times(0).Then(s), "nothing is left of it")
}

func TestFewerThanNoTimesIsAMistake(t *testing.T) {
	assert.PanicsWithValue(t, "retrytest: Times is -1: want 0 or more", func() { retrytest.Value(1).Times(-1) })
}

func TestACallTakesItsTimeUnlessItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		op := retrytest.Value(7).Takes(3 * time.Second).Operation()
		began := time.Now()
		v, err := op.Call(t.Context())
		assert.NoError(t, err)
		assert.Equal(t, 7, v)
		assert.Equal(t, 3*time.Second, time.Since(began))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		v, err = op.Call(ctx)
		assert.Equal(t, context.DeadlineExceeded, err)
		assert.Zero(t, v)
		assert.Equal(t, 4*time.Second, time.Since(began))
	})
}

func TestTheRecordHasWhenEachCallBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Minute)
		began := time.Now()
		op := retrytest.Fail[int](ErrBusy).Takes(time.Millisecond).Operation()
		_, _ = retry.Do(t.Context(), retry.New().MaxRetries(2).Backoff(backoff.Linear(time.Second, time.Second)), op.Call)
		at := func(d time.Duration) retrytest.Call { return retrytest.Call{Time: began.Add(d), Since: d} }
		want := []retrytest.Call{at(0), at(1001 * time.Millisecond), at(3002 * time.Millisecond)}
		assert.Equal(t, want, op.Calls())
		op.Calls()[0].Since = time.Hour
		assert.Equal(t, want, op.Calls(), "what was returned is a copy")
	})
}

func TestCallsAtOnceTakeAStepEach(t *testing.T) {
	const n = 100
	var script retrytest.Script[int]
	for i := range n {
		script = script.Then(retrytest.Value(i))
	}
	op := script.Operation()
	var seen [n]int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			v, _ := op.Call(context.Background())
			mu.Lock()
			defer mu.Unlock()
			seen[v]++
		})
	}
	all.Wait()
	for _, times := range seen {
		require.Equal(t, 1, times)
	}
	assert.Len(t, op.Calls(), n)
}

func TestABubbleIsTornDownWithItsContext(t *testing.T) {
	retrytest.Bubble(t, func(t *rapid.T) {
		began := time.Now()
		time.Sleep(time.Hour)
		require.Equal(t, time.Hour, time.Since(began))
		go func() { <-t.Context().Done() }() // also if it starts late
	})
}

package property_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
)

// plain is a script of the defaults in which the calls do what the steps say.
func plain(steps ...step) script {
	return script{retries: -1, cancelAt: never, cancelHook: -1, deadline: never, hooked: true, steps: steps, words: []uint64{0}}
}

func (s script) with(change func(*script)) script {
	change(&s)
	return s
}

var (
	fails = step{fails: leaf("gone"), takes: time.Second}
	asks  = step{fails: (&tree{kind: "after", hint: time.Hour, of: []*tree{leaf("gone")}}).build()}
	final = step{fails: (&tree{kind: "permanent", of: []*tree{leaf("gone")}}).build()}
	old   = step{awaits: "old"}
)

// directed has a script for every reason.
var directed = map[retry.Reason]script{
	retry.Succeeded:           plain(fails, step{}),
	retry.Refused:             plain().with(func(s *script) { s.faulty = true }),
	retry.Cancelled:           plain(fails).with(func(s *script) { s.cancelAt = 1500 * time.Millisecond }),
	retry.StaleFuture:         plain(old, old),
	retry.NotRetryable:        plain(fails, final),
	retry.TimeSpent:           plain(fails).with(func(s *script) { s.maxElapsed = time.Second }),
	retry.Exhausted:           plain(fails, fails, fails, fails),
	retry.HintTooLong:         plain(fails, asks),
	retry.TimeWouldExceed:     plain(fails).with(func(s *script) { s.maxElapsed = 2 * time.Second }),
	retry.DeadlineWouldExceed: plain(fails).with(func(s *script) { s.deadline = 2 * time.Second }),
	retry.Throttled:           plain(fails, fails).with(func(s *script) { s.allows = []bool{true, false} }),
	retry.Abandoned:           plain(fails, fails).with(func(s *script) { s.leaves = 2 }),
	retry.Partial:             plain(fails, fails).with(func(s *script) { s.partial = 2 }),
}

// corners are scripts that chance rarely makes.
var corners = map[string]script{
	"Except wins over On": plain(fails).with(func(s *script) {
		s.on, s.except = []pick{"gone or full"}, []pick{"gone"}
	}),
	"a hint is not the wait before, for Decorrelated": plain(fails, minute, fails, fails).with(func(s *script) {
		s.backoff, s.words = &curve{kind: "decorrelated", first: time.Second}, []uint64{0, 0, 1 << 63}
	}),
	"a hint and what is drawn are more than a Duration": plain(forever).with(func(s *script) {
		s.maxHint, s.maxElapsed, s.words = never, never, []uint64{1 << 63}
		s.backoff = &curve{kind: "constant", first: time.Second, jitter: "full"}
	}),
	"a hint is cut before the drawn part is added": plain(forever).with(func(s *script) {
		s.mode, s.maxHint, s.words = retry.HintClamp, time.Minute, []uint64{1 << 63}
		s.backoff = &curve{kind: "constant", first: time.Second, jitter: "full"}
	}),
	"an outermost mark speaks to the nearest retry, a wrapped one to all": plain(fails,
		step{fails: (&tree{kind: "wrap", of: []*tree{final.fails}}).build()}),
	"an old failure that is no reason to stop is overcome": plain(fails, old, otherOld, otherOld).with(func(s *script) {
		s.retries, s.wrap, s.info = 9, true, true
	}),
	"an old failure is the last before the end of the context": plain(fails, old, otherOld).with(func(s *script) {
		s.cancelAt = 3500 * time.Millisecond
	}),
	"an old failure is put back": plain(fails, old, otherOld, fails).with(func(s *script) {
		s.retries, s.leaves, s.undecided = 9, 4, true
	}),
	"more errors than are kept": plain(fails, asksIn(1), fails, asksIn(2), fails, asksIn(3), fails).with(func(s *script) {
		s.retries, s.wrap, s.info = 6, true, true
	}),
}

var otherOld = step{awaits: "old", old: 1}

var minute, forever = asksIn(time.Minute), asksIn(never)

func asksIn(d time.Duration) step {
	return step{fails: (&tree{kind: "after", hint: d, of: []*tree{(&tree{kind: "own"}).build()}}).build()}
}

func TestTheCornersOfTheModelAreThoseOfEveryDriver(t *testing.T) {
	for name, s := range corners {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { s.check(t) })
		})
	}
}

func TestEveryReasonEndsARun(t *testing.T) {
	for r := retry.Succeeded; r <= retry.Partial; r++ {
		s, there := directed[r]
		require.True(t, there, "%v", r)
		require.Equal(t, r, s.model().reason)
		synctest.Test(t, func(t *testing.T) { s.check(t) })
		s.wrap = true
		synctest.Test(t, func(t *testing.T) { s.check(t) })
	}
}

// The same numbers give the same scripts, so this is no matter of luck.
func TestTheGeneratorReachesEveryReason(t *testing.T) {
	reached := map[retry.Reason]int{}
	scripts := rapid.Custom(drawScript)
	for i := range 2000 {
		reached[scripts.Example(i).model().reason]++
	}
	for r := retry.Succeeded; r <= retry.Partial; r++ {
		assert.GreaterOrEqual(t, reached[r], 5, "%v", r)
	}
}

// The edges: one nanosecond decides, and so does whether a limit is reached or passed.
func TestALimitIsReachedWhenTheTimeIsEqual(t *testing.T) {
	ended := func(d time.Duration, set func(*script, time.Duration)) retry.Reason {
		s := plain(fails).with(func(s *script) { set(s, d) })
		synctest.Test(t, func(t *testing.T) { s.check(t) })
		return s.model().reason
	}
	maxElapsed := func(s *script, d time.Duration) { s.maxElapsed = d }
	deadline := func(s *script, d time.Duration) { s.deadline = d }
	attempt := func(s *script, d time.Duration) { s.attemptTimeout, s.steps[0].obeys = d, "err" }
	assert.Equal(t, retry.TimeSpent, ended(time.Second, maxElapsed))
	assert.Equal(t, retry.TimeWouldExceed, ended(time.Second+1, maxElapsed))
	assert.Equal(t, retry.TimeWouldExceed, ended(2*time.Second, maxElapsed))
	assert.Equal(t, retry.Succeeded, ended(2*time.Second+1, maxElapsed))
	assert.Equal(t, retry.Cancelled, ended(time.Second-1, deadline))
	assert.Equal(t, retry.DeadlineWouldExceed, ended(time.Second+1, deadline))
	assert.Equal(t, retry.DeadlineWouldExceed, ended(2*time.Second, deadline))
	assert.Equal(t, retry.Succeeded, ended(2*time.Second+1, deadline))
	assert.Equal(t, retry.Succeeded, ended(time.Second-1, attempt))
}

func TestAnEagerResultIsRefusedByEveryDriverThatSeesIt(t *testing.T) {
	op := func(context.Context) (*future.Future[int], error) {
		t.Error("it is called")
		return nil, nil
	}
	var reasons []retry.Reason
	p := retry.New().WrapErrors().Events(func(_ context.Context, e retry.Event) { reasons = append(reasons, e.Reason) })
	_, err := retry.Do(t.Context(), p, op)
	assert.True(t, err == retry.ErrEagerResult)
	_, err = future.Retry(t.Context(), p, op).Await(t.Context())
	assert.True(t, err == retry.ErrEagerResult)
	assert.Equal(t, []retry.Reason{retry.Refused, retry.Refused}, reasons)
}

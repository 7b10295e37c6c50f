package retrytest

import (
	"errors"
	"io"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
)

// A policy cannot break the laws of Policy.Next itself, but what decides can be replaced here.
// decider is a decision that is spoiled for certain failures.
type decider struct {
	want   string
	policy retry.Policy
	spoil  func(f retry.Failure, d retry.Decision) retry.Decision
}

var base = retry.New().Backoff(backoff.Constant(2 * time.Second).EqualJitter())

func again(d time.Duration) retry.Decision {
	return retry.Decision{Retry: true, Wait: d, Drawn: d}
}

// where spoils the decisions on failures for which certain holds.
func where(certain func(retry.Failure) bool, spoiled retry.Decision) func(retry.Failure, retry.Decision) retry.Decision {
	return func(f retry.Failure, d retry.Decision) retry.Decision {
		if certain(f) {
			return spoiled
		}
		return d
	}
}

// plainEOF holds for a plain io.EOF, but not the first times that it is asked.
func plainEOF(not int) func(retry.Failure) bool {
	return func(f retry.Failure) bool {
		if plain := (retry.Failure{Err: io.EOF}); f != plain {
			return false
		}
		not--
		return not < 0
	}
}

func deciders() []decider {
	return []decider{
		{
			`law "a success ends the run": Next(Failure{}) says retry after 1s`, base,
			where(func(f retry.Failure) bool { return f.Err == nil }, again(time.Second)),
		},
		{
			`law "nothing follows the end of the context": Next(Failure{Err: *errors.errorString "boom", Ended: true}) says retry after 1s`, base,
			where(func(f retry.Failure) bool { return f.Ended && f.Err != nil }, again(time.Second)),
		},
		{
			`law "nothing follows a stale failure": Next(Failure{Err: *errors.errorString "boom", Stale: true}) says retry after 1s`, base,
			where(func(f retry.Failure) bool { return f.Stale && f.Err != nil }, again(time.Second)),
		},
		{
			`law "Permanent ends the run": Next(Failure{Err: *retry.permanent "boom"}) says retry after 1s`, base,
			func(f retry.Failure, d retry.Decision) retry.Decision {
				if f.Err != nil && f.Err != errors.Unwrap(f.Err) && d.Reason == retry.NotRetryable {
					return again(time.Second)
				}
				return d
			},
		},
		{
			`law "a decision is one thing": Next(Failure{Err: *errors.errorString "boom"}) says {Retry:true Wait:1s Drawn:1s Source:backoff Reason:exhausted}`, base,
			where(func(f retry.Failure) bool { return f.Err == errBoom }, retry.Decision{Retry: true, Wait: time.Second, Drawn: time.Second, Reason: retry.Exhausted}),
		},
		{
			`law "a decision is one thing": Next(Failure{Err: *errors.errorString "boom", Retries: 3}) says {Retry:false Wait:1ns Drawn:0s Source:backoff Reason:exhausted}`, base,
			where(func(f retry.Failure) bool { return f.Err == errBoom && f.Retries == 3 && f.Draw == 0 }, retry.Decision{Wait: 1, Reason: retry.Exhausted}),
		},
		{
			`law "no more calls than WorstCase": Next(Failure{Err: *errors.errorString "boom", Retries: 3}) says retry after 1s, but WorstCase says 4 calls`, base,
			where(func(f retry.Failure) bool { return f.Err == errBoom && f.Retries >= 3 }, again(time.Second)),
		},
		{
			`law "waits in their bounds": Next(Failure{Err: *errors.errorString "boom", Draw: 0x8000000000000000}) draws 999.999999ms, but with Draw: 0x0 it draws 1s`, base,
			where(func(f retry.Failure) bool { return f.Err == errBoom && f.Draw == 1<<63 }, again(time.Second-1)),
		},
		{
			`law "waits in their bounds": Next(Failure{Err: *errors.errorString "boom", Retries: 1}) draws 2.000000001s, but WorstCase has 2s for retry 2`, base,
			where(func(f retry.Failure) bool { return f.Err == errBoom && f.Retries == 1 }, again(2*time.Second+1)),
		},
		{
			`law "a hint only lengthens": Next(Failure{Err: *retry.after "boom"}) waits 999.999999ms, but draws 1s`, base,
			where(func(f retry.Failure) bool { return hinted(f, time.Second) && f.Draw == 0 }, retry.Decision{Retry: true, Wait: time.Second - 1, Drawn: time.Second}),
		},
		{
			`law "a hint only lengthens": Next(Failure{Err: *retry.after "boom", Draw: 0x8000000000000000}) waits 1.500000001s, but draws 1.5s with a hint of 1s`, base,
			where(func(f retry.Failure) bool { return hinted(f, time.Second) && f.Draw == 1<<63 }, retry.Decision{Retry: true, Wait: 1500*time.Millisecond + 1, Drawn: 1500 * time.Millisecond}),
		},
		{
			`law "no wait reaches MaxElapsed": Next(Failure{Err: *errors.errorString "boom", Elapsed: 1h0m0s}) says retry after 1s, but MaxElapsed is 1h0m1s`, base.MaxElapsed(time.Hour + time.Second),
			where(func(f retry.Failure) bool { return f.Err == errBoom && f.Elapsed == time.Hour }, again(time.Second)),
		},
		{
			`law "no wait reaches the deadline": Next(Failure{Err: *errors.errorString "boom", Left: 1ns, Deadline: true}) says retry after 1s`, base,
			where(func(f retry.Failure) bool { return f.Err == errBoom && f.Left == 1 }, again(time.Second)),
		},
		{
			`law "pure": Next(Failure{Err: *errors.errorString "EOF"}) says retry after 1s, and then stop (exhausted) when asked in another order`, base,
			where(plainEOF(4), retry.Decision{Reason: retry.Exhausted}),
		},
	}
}

func hinted(f retry.Failure, hint time.Duration) bool {
	h, ok := f.Err.(interface{ RetryAfter() (time.Duration, bool) })
	if !ok {
		return false
	}
	d, _ := h.RetryAfter()
	return d == hint
}

func TestADeciderThatBreaksALawIsToldWhichAndWhere(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range deciders() {
		c := claimed(d.policy, nil)
		next := c.next
		c.next = func(f retry.Failure) retry.Decision { return d.spoil(f, next(f)) }
		got, _ := c.subject().search()
		assert.Equal(t, d.want, got)
		seen[got] = true
	}
	assert.Len(t, seen, len(deciders()))
}

func TestARunThatIsMoreThanItsWorstCaseIsTold(t *testing.T) {
	c := claimed(base, nil)
	c.worst = func() (int, time.Duration) { return 4, 5 * time.Second }
	assert.Equal(t, `law "no longer waits than WorstCase": the greatest waits of 3 retries are 5.999999997s in all, but WorstCase says 5s`, c.whole())
	c.worst = func() (int, time.Duration) { return 3, time.Hour }
	assert.Equal(t, `law "no more calls than WorstCase": a run makes 4 calls, but WorstCase says 3`, c.whole())
	c.worst = func() (int, time.Duration) { panic("lost") }
	assert.Equal(t, `law "total": WorstCase() panicked: lost`, c.whole())
	c.worst = func() (int, time.Duration) { return 4, 6*time.Second - 3 }
	assert.Empty(t, c.whole())
}

func TestAWordWithoutAllItsBitsIsTold(t *testing.T) {
	words := []uint64{0, math.MaxUint64}
	assert.Empty(t, constant(words))
	assert.Empty(t, constant([]uint64{0, math.MaxUint64 - 3}), "the last two bits are not seen")
	assert.Contains(t, constant([]uint64{0, math.MaxUint64 >> 1}), "bit 63 is 0 in each of 2 words")
	assert.Contains(t, constant([]uint64{4, math.MaxUint64}), "bit 2 is 1 in each of 2 words")
}

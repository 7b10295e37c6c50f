package retrytest

import (
	"math"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
)

// Strategies draws strategies without a fault, of every curve, jitter and setting, joined
// ones too. The first waits are up to a minute; what has no cap grows from there. It shrinks
// towards the strategy that waits for nothing.
func Strategies() *rapid.Generator[backoff.Strategy] {
	return rapid.Custom(func(t *rapid.T) backoff.Strategy {
		top := rapid.SampledFrom([]time.Duration{time.Second, time.Minute}).Draw(t, "top")
		s, jittered := curve(t, top, 2)
		return settle(t, s, top, jittered)
	})
}

// Policies draws policies without a fault whose runs end: at most 6 retries, after waits of
// an hour at most. They retry every error; refine what is drawn to have it otherwise:
//
//	p := retrytest.Policies().Draw(t, "policy").On(retry.Is(ErrBusy))
func Policies() *rapid.Generator[retry.Policy] {
	return rapid.Custom(func(t *rapid.T) retry.Policy {
		s := Strategies().Draw(t, "strategy").Cap(time.Hour)
		p := retry.New().MaxRetries(rapid.IntRange(0, 6).Draw(t, "retries")).Backoff(s)
		lo, _ := s.Bounds(1)
		limit := durations(time.Hour)
		for _, set := range []func(){
			func() { p = p.MaxElapsed(lo + 1 + limit.Draw(t, "max elapsed")) },
			func() { p = p.AttemptTimeout(1 + limit.Draw(t, "attempt timeout")) },
			func() { p = p.Hints(rapid.SampledFrom(modes).Draw(t, "mode"), 1+limit.Draw(t, "longest hint")) },
			func() { p = p.WrapErrors() },
			func() { p = p.AttemptInfo() },
		} {
			if rapid.IntRange(0, 3).Draw(t, "set") == 3 {
				set()
			}
		}
		return p
	})
}

var modes = []retry.HintMode{retry.HintRefuse, retry.HintClamp, retry.HintIgnore}

// Errors draws errors as operations return them: of the standard library, wrapped, joined,
// Permanent, and with a hint.
func Errors() *rapid.Generator[error] {
	return rapid.Custom(func(t *rapid.T) error {
		e := rapid.SampledFrom(family()).Draw(t, "error")
		if rapid.IntRange(0, 3).Draw(t, "more") == 3 {
			e = rapid.SampledFrom(around(e)).Draw(t, "around it")
		}
		return e.err
	})
}

// Scripts draws scripts of up to 6 steps that fail with [Errors] or give one of the values,
// each at once or after up to a minute.
func Scripts[T any](values *rapid.Generator[T]) *rapid.Generator[Script[T]] {
	return rapid.Custom(func(t *rapid.T) (all Script[T]) {
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			next := Fail[T](Errors().Draw(t, "error"))
			if rapid.IntRange(0, 3).Draw(t, "value") == 3 {
				next = Value(values.Draw(t, "value"))
			}
			all = all.Then(next.Takes(durations(time.Minute).Draw(t, "takes")))
		}
		return all
	})
}

// durations draws from 0 to the longest: the round ones, some of a unit, or any.
func durations(longest time.Duration) *rapid.Generator[time.Duration] {
	round := []time.Duration{0, 1, time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second, time.Minute, time.Hour}
	round = append(slices.DeleteFunc(round, func(d time.Duration) bool { return d >= longest }), longest)
	from := func(unit time.Duration, most int64) *rapid.Generator[time.Duration] {
		count := rapid.Int64Range(0, min(most, int64(longest/unit)))
		return rapid.Map(count, func(i int64) time.Duration { return time.Duration(i) * unit })
	}
	return rapid.OneOf(rapid.SampledFrom(round), from(time.Millisecond, 100), from(time.Second, 100), from(1, math.MaxInt64))
}

// curve draws a curve whose first waits are at most top, and says whether it can take no
// jitter.
func curve(t *rapid.T, top time.Duration, depth int) (s backoff.Strategy, jittered bool) {
	first := func() time.Duration { return durations(top).Draw(t, "wait") }
	switch kind := rapid.IntRange(0, 6+min(depth, 1)).Draw(t, "curve"); kind {
	case 0:
		return s, false
	case 1:
		return backoff.Constant(first()), false
	case 2:
		return backoff.Linear(first(), first()), false
	case 3:
		return backoff.Exponential(first(), factors.Draw(t, "factor")), false
	case 4:
		return backoff.Fibonacci(first()), false
	case 5:
		return backoff.Decorrelated(first()), true
	case 6:
		return table(t, first)
	default:
		return joined(t, top, depth)
	}
}

var factors = rapid.OneOf(rapid.SampledFrom([]float64{1, 1.5, 2, 3, 10}), rapid.Float64Range(1, 4))

// table draws a List or a Func.
func table(t *rapid.T, wait func() time.Duration) (s backoff.Strategy, jittered bool) {
	waits := make([]time.Duration, rapid.IntRange(1, 5).Draw(t, "length"))
	for i := range waits {
		waits[i] = wait()
	}
	if rapid.Bool().Draw(t, "list") {
		return backoff.List(waits...), false
	}
	return backoff.Func(func(n int) (lo, hi time.Duration) { return waits[0], waits[min(n, len(waits))-1] }), true
}

func joined(t *rapid.T, top time.Duration, depth int) (s backoff.Strategy, jittered bool) {
	head, one := curve(t, top, depth-1)
	tail, other := curve(t, top, depth-1)
	return head.Then(rapid.IntRange(0, 5).Draw(t, "waits"), tail), one || other
}

// settle draws settings that fit a strategy whose first waits are at most top.
func settle(t *rapid.T, s backoff.Strategy, top time.Duration, jittered bool) backoff.Strategy {
	within := func(name string) time.Duration { return durations(top).Draw(t, name) }
	if !jittered {
		switch rapid.IntRange(0, 5).Draw(t, "jitter") {
		case 1:
			s = s.FullJitter()
		case 2:
			s = s.EqualJitter()
		case 3:
			s = s.ProportionalJitter(rapid.Float64Range(0, 1).Draw(t, "fraction"))
		case 4:
			s = s.AdditiveJitter(within("additive"))
		case 5:
			s = s.SpringJitter(within("spring"))
		}
	}
	if rapid.Bool().Draw(t, "capped") {
		s = s.Cap(top + durations(time.Hour).Draw(t, "cap"))
	}
	if rapid.Bool().Draw(t, "floored") {
		s = s.Floor(within("floor"))
	}
	return s
}

package stream_test

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/stream"
)

// A crash passes on whatever else had ended the run.
func TestNoCrashIsSwallowed(t *testing.T) {
	crashing := stream.Stream[int](func(ctx context.Context, yield func(int) bool) error {
		yield(1)
		<-ctx.Done()
		panic(errBoom)
	})
	fnCrashing := func() func(ctx context.Context, v int) (int, error) {
		both := make(chan struct{})
		return func(ctx context.Context, v int) (int, error) {
			if v == 2 {
				close(both)
				<-ctx.Done()
				panic(errBoom)
			}
			<-both
			return v, nil
		}
	}
	for name, run := range map[string]func(context.Context) error{
		"Merge, another's error": func(ctx context.Context) error {
			_, err := stream.Merge(stream.Failed[int](errLasting), crashing).Collect(ctx)
			return err
		},
		"Merge, stopped":          func(ctx context.Context) error { _, err := stream.Merge(crashing).First(ctx); return err },
		"ParMap, source, stopped": func(ctx context.Context) error { _, err := parMap(2)(crashing).First(ctx); return err },
		"ParMap, fn, stopped": func(ctx context.Context) error {
			_, err := stream.ParMap(stream.Of(1, 2), 2, stream.Ordered, fnCrashing()).First(ctx)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var p *stream.PanicError
				func() {
					defer func() { p, _ = recover().(*stream.PanicError) }()
					_ = run(t.Context())
				}()
				require.NotNil(t, p, "the run panics")
				assert.ErrorIs(t, p, errBoom)
			})
		})
	}
}

// No retry can help a mistake: it is one run, also for a retry around it.
func TestMisuseIsPermanent(t *testing.T) {
	used := stream.FromSeq2(stream.Of(1).All(t.Context()))
	_, _ = used.Collect(t.Context())
	var none stream.Stream[int]
	for name, s := range map[string]stream.Stream[int]{
		"nil":           none,
		"From(nil)":     stream.From[int](nil),
		"zero mode":     stream.Of(1).Retry(retry.New(), stream.Mode[int]{}),
		"faulty policy": stream.Of(1).Retry(retry.New().MaxRetries(-1), stream.Restart[int]()),
		"zero source":   stream.SingleUse[int]{}.Stream(),
		"used":          used.Stream(),
		"a full buffer": stream.Of(1, 2).Retry(noWait, stream.Buffered[int](1)),
		"eager":         stream.Map(stream.Defer(func(context.Context) (stream.SingleUse[int], error) { return used, nil }), func(stream.SingleUse[int]) int { return 1 }),
	} {
		runs := 0
		counted := stream.Stream[int](func(ctx context.Context, yield func(int) bool) error {
			runs++
			if s == nil {
				return s.Filter(odd)(ctx, yield)
			}
			return s(ctx, yield)
		})
		_, err := counted.Retry(noWait, stream.Restart[int]()).Retry(noWait, stream.Restart[int]()).Collect(t.Context())
		assert.Error(t, err, name)
		assert.Equal(t, 1, runs, name)
	}
	calls := 0
	_, err := retry.Do(t.Context(), noWait, func(ctx context.Context) (int, error) { calls++; return used.First(ctx) })
	assert.True(t, err == stream.ErrUsed)
	assert.Equal(t, 1, calls)
}

// broken is a reader that fails in the middle.
func broken(text string) io.Reader { return io.MultiReader(strings.NewReader(text), failing{errBoom}) }

func TestATornLineIsNoLine(t *testing.T) {
	lines, err := stream.FromLines(broken("hello\nwor")).Collect(t.Context())
	assert.Equal(t, []string{"hello"}, lines)
	assert.True(t, err == errBoom)
	lines, err = stream.FromLines(broken("hello\nworld\n")).Collect(t.Context())
	assert.Equal(t, []string{"hello", "world"}, lines)
	assert.True(t, err == errBoom)
	longest := strings.Repeat("x", 1<<20)
	for _, text := range []string{longest, longest + "\n", longest + "\r\n"} {
		lines, err = stream.FromLines(strings.NewReader(text)).Collect(t.Context())
		assert.NoError(t, err)
		assert.Equal(t, []string{longest}, lines)
	}
}

// What the mode and the caps forbid comes before what the deadline does.
func TestPartialAndMaxTotalComeBeforeTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var reason retry.Reason
		p := retry.New().Backoff(backoff.Constant(time.Minute)).MaxRetries(retry.Unlimited).Events(func(_ context.Context, e retry.Event) { reason = e.Reason })
		s := stream.Concat(stream.Of(1), stream.Failed[int](errBoom))
		_, err := s.Retry(p, stream.BeforeFirst[int]()).Collect(ctx)
		assert.True(t, err == errBoom)
		assert.Equal(t, retry.Partial, reason)
		_, err = s.Retry(p, stream.Restart[int]().Reset(stream.Reset{}.MaxTotal(0))).Collect(ctx)
		assert.True(t, err == errBoom)
		assert.Equal(t, retry.Exhausted, reason)
		_, err = s.Retry(p, stream.Restart[int]()).Collect(ctx)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// MaxWithin looks at when retries begin, not at when they are decided.
func TestMaxWithinCountsRetriesWhereTheyBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var at []time.Duration
		s := stream.Stream[int](func(context.Context, func(int) bool) error {
			if at = append(at, time.Since(began)); len(at) == 1 {
				return retry.After(10*time.Second, errBoom)
			}
			return errBoom
		})
		_, err := s.Retry(retry.New().Backoff(backoff.Constant(ms)), stream.Restart[int]().Reset(stream.Reset{}.MaxWithin(1, 5*time.Second))).Collect(t.Context())
		assert.True(t, err == errBoom)
		assert.Equal(t, []time.Duration{0, 10 * time.Second}, at)
	})
}

func TestASourceThatGivesNothingIsNotHealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		s := stream.Stream[int](func(ctx context.Context, _ func(int) bool) error { runs++; <-ctx.Done(); return ctx.Err() })
		_, err := s.Retry(retry.New().AttemptTimeout(time.Second), stream.Restart[int]().Reset(stream.ResetHealthy(time.Second))).Collect(t.Context())
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 4, runs)
	})
}

func TestTheCauseMayReadLikeTheError(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("context canceled")
	cancel(cause)
	_, err := stream.Of(1).Repeat(backoff.Strategy{}).Collect(ctx)
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, err, cause)
	assert.EqualError(t, err, "stream: the context ended the run: context canceled")
}

// The source's error ends an unordered run at once, and an ordered one in its turn.
func TestAnErrorOfTheSourceNeedNotWaitWithoutAnOrder(t *testing.T) {
	for order, lasts := range map[stream.Order]time.Duration{stream.Unordered: 0, stream.Ordered: time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			slow := func(ctx context.Context, v int) (int, error) {
				select {
				case <-time.After(time.Hour):
				case <-ctx.Done():
				}
				return v, nil
			}
			_, err := stream.ParMap(stream.Concat(stream.Of(1), stream.Failed[int](errBoom)), 3, order, slow).Collect(t.Context())
			assert.True(t, err == errBoom)
			assert.Equal(t, lasts, time.Since(began))
		})
	}
}

func TestTheErrorOfAWorkersRunIsItsOwn(t *testing.T) {
	dirty := stream.Stream[int](func(_ context.Context, yield func(int) bool) error {
		for yield(1) {
		}
		return errCleanup
	})
	_, err := stream.Merge(dirty).Take(1).Collect(t.Context())
	assert.True(t, err == errCleanup, "one clean-up error is itself: %v", err)
	_, err = parMap(1)(dirty).Take(1).Collect(t.Context())
	assert.True(t, err == errCleanup, "%v", err)
}

// A consumer that does not return is not called again, even if the source recovers that.
func TestASourceThatRecoversTheConsumersPanicIsNotHeard(t *testing.T) {
	recovering := stream.Stream[int](func(_ context.Context, yield func(int) bool) error {
		for range 3 {
			func() {
				defer func() { _ = recover() }()
				yield(1)
			}()
		}
		return nil
	})
	for name, s := range map[string]stream.Stream[int]{
		"Take": recovering.Take(9), "Concat": stream.Concat(recovering, recovering), "Repeat": recovering.Repeat(backoff.Strategy{}),
		"Retry": recovering.Retry(noWait, stream.Restart[int]()), "MapErr": stream.MapErr(recovering, func(v int) (int, error) { return v, nil }),
	} {
		calls := 0
		err := s(t.Context(), func(int) bool { calls++; panic(errBoom) })
		assert.NoError(t, err)
		assert.Equal(t, 1, calls, name)
	}
}

func TestUnlimitedIsNeverUsedUp(t *testing.T) {
	d := retry.New().MaxRetries(retry.Unlimited).Next(retry.Failure{Err: errBoom, Retries: math.MaxInt})
	assert.True(t, d.Retry)
}

// A source that goes on after the stop is not heard by who had stopped it.
func TestARudeSourceIsNotHeard(t *testing.T) {
	for name, op := range map[string]func(stream.Stream[int]) stream.Stream[int]{
		"Take":   func(s stream.Stream[int]) stream.Stream[int] { return s.Take(9) },
		"Concat": func(s stream.Stream[int]) stream.Stream[int] { return stream.Concat(s, s) },
		"MapErr": func(s stream.Stream[int]) stream.Stream[int] {
			return stream.MapErr(s, func(v int) (int, error) { return v, nil })
		},
		"FlatMap": func(s stream.Stream[int]) stream.Stream[int] {
			return stream.FlatMap(s, func(v int) stream.Stream[int] { return stream.Of(v) })
		},
		"Batch": func(s stream.Stream[int]) stream.Stream[int] {
			return stream.FlatMap(stream.Batch(s, 1), stream.FromSlice[int])
		},
		"Repeat": func(s stream.Stream[int]) stream.Stream[int] { return s.Repeat(backoff.Strategy{}) },
		"Retry":  func(s stream.Stream[int]) stream.Stream[int] { return s.Retry(noWait, stream.Restart[int]()) },
	} {
		calls := 0
		p := &probe{items: []int{1, 2, 3}, rude: 2}
		assert.NoError(t, op(p.stream())(t.Context(), func(int) bool { calls++; return calls > 1 }), name)
		assert.Equal(t, 1, calls, name)
	}
}

// A source of one's own that only says that its context has ended: a sink knows the cause.
func TestASinkKnowsTheCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCause)
	for name, source := range map[string]func(context.Context) error{
		"error": func(ctx context.Context) error { return ctx.Err() },
		"cause": context.Cause,
		"own":   func(ctx context.Context) error { return errors.Join(errBoom, ctx.Err()) },
	} {
		s := stream.Stream[int](func(ctx context.Context, _ func(int) bool) error { return source(ctx) })
		_, collected := s.Collect(ctx)
		_, first := s.First(ctx)
		each := s.ForEach(ctx, func(context.Context, int) error { return nil })
		sent := s.ToChan(ctx, make(chan int))
		var ranged error
		for _, err := range s.All(ctx) {
			ranged = err
		}
		for _, err := range []error{collected, first, each, sent, ranged} {
			assert.ErrorIs(t, err, context.Canceled, name)
			assert.ErrorIs(t, err, errCause, name)
			assert.Equal(t, name == "own", errors.Is(err, errBoom))
		}
	}
	_, err := stream.Failed[int](errBoom).Collect(ctx)
	assert.True(t, err == errBoom, "what is not about the context is as it is")
}

func TestALineThatIsTooLongIsNamedAndNotRetried(t *testing.T) {
	text := "a\nb\n" + strings.Repeat("x", 2<<20)
	runs := 0
	s := stream.Stream[string](func(ctx context.Context, yield func(string) bool) error {
		runs++
		return stream.FromLines(strings.NewReader(text)).Stream()(ctx, yield)
	})
	_, err := s.Retry(noWait, stream.Restart[string]()).Collect(t.Context())
	assert.EqualError(t, err, "stream.FromLines: line 3: bufio.Scanner: token too long")
	assert.Equal(t, 1, runs)
}

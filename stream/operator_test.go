package stream_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/stream"
)

var noWait = retry.New().Backoff(backoff.Strategy{})

// A probe is a source that counts its runs and clean-ups, and can be rude.
type probe struct {
	items      []int
	err        error
	rude       int
	runs, ends int
}

func (p *probe) stream() stream.Stream[int] {
	return func(_ context.Context, yield func(int) bool) error {
		p.runs++
		defer func() { p.ends++ }()
		for _, v := range p.items {
			if !yield(v) {
				for range p.rude {
					if yield(v) {
						panic("told to go on after the stop")
					}
				}
				return nil
			}
		}
		return p.err
	}
}

// An operator, and what it does to a slice: the elements, and whether it ends before its
// source does.
type operator struct {
	name  string
	on    func(stream.Stream[int]) stream.Stream[int]
	model func(items []int, err error) ([]int, error)
}

func odd(v int) bool { return v%2 != 0 }

func failAt3(v int) (int, error) {
	if v == 3 {
		return 0, errLasting
	}
	return 10 * v, nil
}

var operators = []operator{
	{"Map", func(s stream.Stream[int]) stream.Stream[int] { return stream.Map(s, func(v int) int { return -v }) }, each(func(v int) []int { return []int{-v} })},
	{"Filter", func(s stream.Stream[int]) stream.Stream[int] { return s.Filter(odd) }, each(func(v int) []int {
		if odd(v) {
			return []int{v}
		}
		return nil
	})},
	{"MapErr", func(s stream.Stream[int]) stream.Stream[int] { return stream.MapErr(s, failAt3) }, until3},
	{"RetryEach", func(s stream.Stream[int]) stream.Stream[int] {
		return stream.RetryEach(s, noWait, func(_ context.Context, v int) (int, error) { return failAt3(v) })
	}, until3},
	{"ParMap 1", parMap(1), until3},
	{"ParMap 3", parMap(3), until3},
	{"Take", func(s stream.Stream[int]) stream.Stream[int] { return s.Take(2) }, func(items []int, err error) ([]int, error) {
		if len(items) >= 2 {
			return items[:2], nil
		}
		return items, err
	}},
	{"Take 0", func(s stream.Stream[int]) stream.Stream[int] { return s.Take(0) }, func([]int, error) ([]int, error) { return nil, nil }},
	{"Concat", func(s stream.Stream[int]) stream.Stream[int] {
		return stream.Concat(stream.Of(7, 8), s, stream.Of(9))
	}, func(items []int, err error) ([]int, error) {
		items = slices.Concat([]int{7, 8}, items)
		if err == nil {
			items = append(items, 9)
		}
		return items, err
	}},
	{"FlatMap", func(s stream.Stream[int]) stream.Stream[int] {
		return stream.FlatMap(s, func(v int) stream.Stream[int] {
			if v == 3 {
				return stream.Failed[int](errLasting)
			}
			return stream.Of(v, v)
		})
	}, func(items []int, err error) ([]int, error) {
		items, err = until3(items, err)
		all, _ := each(func(v int) []int { return []int{v / 10, v / 10} })(items, nil)
		return all, err
	}},
	{"Batch", func(s stream.Stream[int]) stream.Stream[int] {
		return stream.Map(stream.Batch(s, 2), func(vs []int) int { return vs[0] + 10*len(vs) })
	}, func(items []int, err error) (all []int, _ error) {
		for vs := range slices.Chunk(items, 2) {
			all = append(all, vs[0]+10*len(vs))
		}
		return all, err
	}},
	{"Merge of one", func(s stream.Stream[int]) stream.Stream[int] { return stream.Merge(s) }, each(func(v int) []int { return []int{v} })},
	{"Retry", func(s stream.Stream[int]) stream.Stream[int] {
		return s.Retry(noWait.MaxRetries(0), stream.Restart[int]())
	}, each(func(v int) []int { return []int{v} })},
	{"SingleUse", func(s stream.Stream[int]) stream.Stream[int] {
		return stream.FromSeq2(s.All(context.Background())).Stream()
	}, each(func(v int) []int { return []int{v} })},
}

func each(fn func(int) []int) func([]int, error) ([]int, error) {
	return func(items []int, err error) (all []int, _ error) {
		for _, v := range items {
			all = append(all, fn(v)...)
		}
		return all, err
	}
}

func until3(items []int, err error) (all []int, _ error) {
	for _, v := range items {
		if v == 3 {
			return all, errLasting
		}
		all = append(all, 10*v)
	}
	return all, err
}

func parMap(n int) func(stream.Stream[int]) stream.Stream[int] {
	return func(s stream.Stream[int]) stream.Stream[int] {
		return stream.ParMap(s, n, stream.Ordered, func(_ context.Context, v int) (int, error) {
			time.Sleep(time.Duration(7*v%5) * ms)
			return failAt3(v)
		})
	}
}

// sinks run a stream up to so many elements (or to the end).
var sinks = map[string]func(ctx context.Context, s stream.Stream[int], stop int) ([]int, error){
	"run": func(ctx context.Context, s stream.Stream[int], stop int) (all []int, _ error) {
		err := s(ctx, func(v int) bool {
			if stop > 0 && len(all) == stop {
				return false // the source is rude
			}
			all = append(all, v)
			return len(all) != stop
		})
		return all, err
	},
	"All": func(ctx context.Context, s stream.Stream[int], stop int) (all []int, _ error) {
		for v, err := range s.All(ctx) {
			if err != nil {
				return all, err
			}
			if all = append(all, v); len(all) == stop {
				break
			}
		}
		return all, nil
	},
	"ForEach": func(ctx context.Context, s stream.Stream[int], stop int) (all []int, _ error) {
		err := s.ForEach(ctx, func(_ context.Context, v int) error {
			if all = append(all, v); len(all) == stop {
				return errCause
			}
			return nil
		})
		if errors.Is(err, errCause) {
			err = nil
		}
		return all, err
	},
	"ToChan": func(ctx context.Context, s stream.Stream[int], stop int) (all []int, err error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		ch := make(chan int)
		go func() { err = s.ToChan(ctx, ch); close(ch) }()
		for v := range ch {
			if all = append(all, v); len(all) == stop {
				cancel()
				for range ch { // until it has ended
				}
				return all, nil
			}
		}
		return all, err
	},
	"Collect": func(ctx context.Context, s stream.Stream[int], stop int) ([]int, error) {
		if stop > 0 {
			return s.Take(stop).Collect(ctx)
		}
		return s.Collect(ctx)
	},
	"Reduce": func(ctx context.Context, s stream.Stream[int], stop int) ([]int, error) {
		if stop > 0 {
			s = s.Take(stop)
		}
		return stream.Reduce(ctx, s, nil, func(all []int, v int) []int { return append(all, v) })
	},
}

func TestEveryOperatorDoesToAStreamWhatItDoesToASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &probe{
			items: rapid.SliceOfN(rapid.IntRange(0, 5), 0, 6).Draw(t, "items"),
			err:   rapid.SampledFrom([]error{nil, errBoom}).Draw(t, "err"), rude: rapid.IntRange(0, 2).Draw(t, "rude"),
		}
		ops := rapid.SliceOfN(rapid.SampledFrom(operators), 1, 3).Draw(t, "operators")
		stop := rapid.IntRange(0, 4).Draw(t, "stop")
		name := rapid.SampledFrom([]string{"run", "All", "ForEach", "ToChan", "Collect", "Reduce"}).Draw(t, "sink")
		rapid.SyncTest(t, func(t *rapid.T) {
			s, want, wantErr := p.stream(), slices.Clone(p.items), p.err
			names := []string{}
			for _, op := range ops {
				s, names = op.on(s), append(names, op.name)
				want, wantErr = op.model(want, wantErr)
			}
			if stop > 0 && len(want) >= stop {
				want, wantErr = want[:stop], nil
			}
			got, err := sinks[name](context.Background(), s, stop)
			if name == "ToChan" && stop > 0 && len(got) == stop {
				got = got[:stop]
			}
			if len(want) == 0 {
				require.Empty(t, got, names)
			} else {
				require.Equal(t, want, got, "%v to %s", names, name)
			}
			require.True(t, err == wantErr, "%v: %v is %v", names, err, wantErr)
			require.LessOrEqual(t, p.runs, 1)
			require.Equal(t, p.runs, p.ends)
		})
	})
}

func TestANilStreamSaysSo(t *testing.T) {
	var none stream.Stream[int]
	for _, op := range operators[:len(operators)-1] {
		if op.name == "Take 0" {
			continue // is not run
		}
		_, err := op.on(none).Collect(t.Context())
		assert.EqualError(t, err, "stream: a nil Stream: make one with stream.From, stream.Of or stream.Defer", op.name)
	}
	_, err := none.First(t.Context())
	assert.ErrorContains(t, err, "a nil Stream")
	_, err = stream.FlatMap(stream.Of(1), func(int) stream.Stream[int] { return nil }).Collect(t.Context())
	assert.ErrorContains(t, err, "a nil Stream")
}

func TestBadArgumentsAreTheErrorOfTheRun(t *testing.T) {
	op := func(context.Context) (int, error) { return 1, nil }
	fn := func(_ context.Context, v int) (int, error) { return v, nil }
	id := func(v int) (int, bool) { return v, true }
	open := func(context.Context, int, bool) stream.Stream[int] { return stream.Of(1) }
	for want, s := range map[string]stream.Stream[int]{
		"stream.From: nil open: want a function that opens the source":                                                                stream.From[int](nil),
		"stream.Defer: nil op: want a function":                                                                                       stream.Defer[int](nil),
		"stream: Failed(nil): want an error, or stream.Of for an empty stream":                                                        stream.Failed[int](nil),
		"stream.Every: the interval is 0s: want more than 0":                                                                          stream.Every(0, op),
		"stream.Every: nil op: want a function":                                                                                       stream.Every[int](1, nil),
		"stream.ParMap: nil fn: want a function":                                                                                      stream.ParMap[int, int](stream.Of(1), 1, stream.Ordered, nil),
		"stream.ParMap: n is 0: want 1 to 1048576, how many may run at a time":                                                        stream.ParMap(stream.Of(1), 0, stream.Ordered, fn),
		"stream.ParMap: the order is Order(2): want Ordered or Unordered":                                                             stream.ParMap(stream.Of(1), 1, 2, fn),
		"stream.RetryEach: nil fn: want a function":                                                                                   stream.RetryEach[int, int](stream.Of(1), retry.New(), nil),
		"stream.FromChan: nil channel: nothing would ever come":                                                                       stream.FromChan[int](nil).Stream(),
		"stream.FromSeq: nil iterator":                                                                                                stream.FromSeq[int](nil).Stream(),
		"stream.FromSeq2: nil iterator":                                                                                               stream.FromSeq2[int](nil).Stream(),
		"stream: the zero SingleUse: make one with stream.FromChan, stream.FromSeq or stream.FromLines":                               stream.SingleUse[int]{}.Stream(),
		"retry: MaxRetries is -1: want 0 or more, or retry.Unlimited for no limit":                                                    stream.Of(1).Retry(retry.New().MaxRetries(-1), stream.Restart[int]()),
		"stream: the zero Mode does not say what is to become of delivered elements: want BeforeFirst, Restart, SkipSeen or Buffered": stream.Of(1).Retry(retry.New(), stream.Mode[int]{}),
		"stream: SkipSeenBy with a nil key: want a function":                                                                          stream.Of(1).Retry(retry.New(), stream.SkipSeenBy[int, int](nil)),
		"stream: Buffered may keep 0 elements: want 1 or more":                                                                        stream.Of(1).Retry(retry.New(), stream.Buffered[int](0)),
		"stream: ResetAfter with Buffered, which delivers nothing before the end: want ResetHealthy":                                  stream.Of(1).Retry(retry.New(), stream.Buffered[int](1).Reset(stream.ResetAfter(1))),
		"stream: a reset with BeforeFirst, which is not retried after an element: leave it out":                                       stream.Of(1).Retry(retry.New(), stream.BeforeFirst[int]().Reset(stream.ResetAfter(1))),
		"stream: ResetOnProgress with a mode, which has no cursor: want ResetAfter or ResetHealthy":                                   stream.Of(1).Retry(retry.New(), stream.Restart[int]().Reset(stream.ResetOnProgress())),
		"stream: ResetAfter(0): want 1 or more":                                                                                       stream.Of(1).Retry(retry.New(), stream.Restart[int]().Reset(stream.ResetAfter(0))),
		"stream: ResetHealthy(0s): want more than 0":                                                                                  stream.Of(1).Retry(retry.New(), stream.Restart[int]().Reset(stream.ResetHealthy(0))),
		"stream: MaxTotal(-1): want 0 or more":                                                                                        stream.Resume(open, id, 0, retry.New(), stream.Reset{}.MaxTotal(-1)),
		"stream: MaxWithin(0, 0s): want 1 or more, in more than 0":                                                                    stream.Resume(open, id, 0, retry.New(), stream.Reset{}.MaxWithin(0, 0)),
		"stream.Resume: nil open or cursor: want functions":                                                                           stream.Resume[int, int](nil, id, 0, retry.New(), stream.Reset{}),
	} {
		_, err := s.Collect(t.Context())
		assert.EqualError(t, err, want)
	}
	_, err := stream.Batch(stream.Of(1), 0).Collect(t.Context())
	assert.EqualError(t, err, "stream.Batch: the size is 0: want 1 or more")
	_, err = stream.FromLines(nil).Collect(t.Context())
	assert.EqualError(t, err, "stream.FromLines: nil reader")
	_, err = stream.Of(1).Repeat(backoff.Constant(-1)).Collect(t.Context())
	assert.ErrorContains(t, err, "Constant")
	_, err = stream.Defer(func(context.Context) (stream.SingleUse[int], error) {
		t.Error("called")
		return stream.SingleUse[int]{}, nil
	}).Collect(t.Context())
	assert.Equal(t, retry.ErrEagerResult, err)
	_, err = stream.RetryEach(stream.Of(1), noWait, func(context.Context, int) (stream.SingleUse[int], error) {
		t.Error("called")
		return stream.SingleUse[int]{}, nil
	}).Collect(t.Context())
	assert.Equal(t, retry.ErrEagerResult, err)
}

func TestASourceThatCanBeRunOnceIsRunOnce(t *testing.T) {
	ch := make(chan int, 3)
	ch <- 1
	ch <- 2
	close(ch)
	lines := stream.FromLines(strings.NewReader("a\nb\r\nc"))
	got, err := lines.Collect(t.Context())
	assert.NoError(t, err)
	assert.Equal(t, []string{"a", "b", "c"}, got)
	_, err = lines.Collect(t.Context())
	assert.True(t, err == stream.ErrUsed)

	calls := 0
	u := stream.FromChan(ch)
	vs, err := stream.MapErr(u.Stream(), func(v int) (int, error) { calls++; return v, errBoom }).Retry(noWait, stream.Restart[int]()).Collect(t.Context())
	assert.Empty(t, vs)
	assert.True(t, err == stream.ErrUsed, "the retry stops at once")
	assert.Equal(t, 1, calls)
	_, err = retry.Do(t.Context(), noWait, func(context.Context) (stream.SingleUse[int], error) { t.Error("called"); return u, nil })
	assert.Equal(t, retry.ErrEagerResult, err)

	once := stream.FromSeq(slices.Values([]int{1, 2}))
	v, err := once.First(t.Context())
	assert.NoError(t, err)
	assert.Equal(t, 1, v)
	assert.ErrorIs(t, once.ForEach(t.Context(), func(context.Context, int) error { return nil }), stream.ErrUsed)
	assert.ErrorIs(t, once.ToChan(t.Context(), make(chan int)), stream.ErrUsed)
	for _, err := range once.All(t.Context()) {
		assert.ErrorIs(t, err, stream.ErrUsed)
	}
	_, err = stream.FromLines(strings.NewReader(strings.Repeat("x", 2<<20))).Collect(t.Context())
	assert.ErrorContains(t, err, "token too long")
}

// What the end of the context ends has its error and its cause.
func TestTheEndOfTheContextEndsARun(t *testing.T) {
	slow := func(ctx context.Context, v int) (int, error) { <-ctx.Done(); return v, ctx.Err() }
	forever := stream.Of(1).Repeat(backoff.Constant(time.Second))
	for name, s := range map[string]stream.Stream[int]{
		"Every":     stream.Every(time.Second, func(context.Context) (int, error) { return 1, nil }),
		"Repeat":    forever,
		"FromChan":  stream.Defer(func(ctx context.Context) (int, error) { return stream.FromChan(make(chan int)).First(ctx) }),
		"ParMap":    stream.ParMap(forever, 3, stream.Ordered, slow),
		"unordered": stream.ParMap(forever, 3, stream.Unordered, slow),
		"Merge":     stream.Merge(forever, forever),
		"Retry":     stream.Failed[int](errBoom).Retry(retry.New().MaxRetries(retry.Unlimited), stream.Restart[int]()),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), 5500*ms, errCause)
				defer cancel()
				began := time.Now()
				_, err := s.Collect(ctx)
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				if name != "Retry" { // which does not wait for a deadline that would come first
					assert.ErrorIs(t, err, errCause)
					assert.Equal(t, 5500*ms, time.Since(began))
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errCause) })
		err := stream.Of(1).ToChan(ctx, make(chan int))
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, errCause)
	})
	dead, cancel := context.WithCancelCause(t.Context())
	cancel(errCause)
	_, err := stream.FromLines(strings.NewReader("a")).Collect(dead)
	assert.EqualError(t, err, "stream: the context ended the run: context canceled (the cause)")
}

func TestEveryAndRepeatKeepTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var at []time.Duration
		n := 0
		s := stream.Every(time.Second, func(context.Context) (time.Duration, error) {
			if n++; n > 4 {
				return 0, errBoom
			}
			return time.Since(began), nil
		})
		err := s.ForEach(t.Context(), func(_ context.Context, d time.Duration) error {
			at = append(at, d)
			if len(at) == 2 {
				time.Sleep(2500 * ms) // two ticks are due: one is kept
			}
			return nil
		})
		assert.True(t, err == errBoom)
		assert.Equal(t, []time.Duration{0, time.Second, 3500 * ms, 4 * time.Second}, at)

		began, at = time.Now(), nil
		err = stream.Of(1).Repeat(backoff.Linear(time.Second, time.Second)).Take(4).ForEach(t.Context(), func(context.Context, int) error {
			at = append(at, time.Since(began))
			return nil
		})
		assert.NoError(t, err)
		assert.Equal(t, []time.Duration{0, time.Second, 3 * time.Second, 6 * time.Second}, at)
		_, err = stream.Failed[int](errBoom).Repeat(backoff.Strategy{}).Collect(t.Context())
		assert.True(t, err == errBoom)
	})
}

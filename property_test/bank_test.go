package property_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/future"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/budget"
	"github.com/dacapo-go/dacapo/stream"
)

// The bank: public faults of other libraries, by an id of ours, the repository
// and the number of the report. Each is a test that fails where the fault is.
// Titles and inputs are ours; no code is copied.

// notApplicable are the rows that are not tested, and why.
var notApplicable = map[string]string{
	"B131": "(HKUDS/nanobot#2760) nested retries multiply: the README says so, nothing detects it",
	"B136": "(mattn/go-mastodon#219) an operation that consumes a reader has to open it itself",
	"B088": "(tailscale/tailscale#7501) no retry depends on a result: an operation that has made no progress says so with an error",
	"B097": "(ReactiveX/rxjs#1628) there is no cache; a Memo in front of a stream is run once",
	"B044": "(pathosDev/actor-ts#771) no default cap: an uncapped curve saturates at the greatest Duration, which a timer takes as it is",
	"B052": "(kubernetes-sigs/cluster-api-provider-aws#1069) no default cap; that the worst case can be asked for is tested",
	"B053": "(spring-projects/spring-framework#35963) a limit that also interrupts the first call is the context's deadline",
	"B125": "(aws/aws-sdk-go-v2#3413) a run that is throttled ends at once with the operation's own error; whoever calls in a loop puts a retry around it, which waits",
	"B085": "(spring-projects/spring-batch#1794) no resumable runs: Policy.Next takes the count and the wait before as arguments",
}

const longest = time.Duration(math.MaxInt64)

func every(s backoff.Strategy, ns []int, check func(n int, lo, hi time.Duration)) {
	for _, n := range ns {
		lo, hi := s.Bounds(n)
		check(n, lo, hi)
	}
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// waits runs an operation that fails so often and returns the waits between its calls.
func waits(t *testing.T, p retry.Policy, failures int, err error) (all []time.Duration, got error) {
	synctest.Test(t, func(t *testing.T) {
		var last time.Time
		calls := 0
		got = retry.Run(t.Context(), p, func(context.Context) error {
			if calls++; calls > 1 {
				all = append(all, time.Since(last))
			}
			last = time.Now()
			if calls <= failures {
				return err
			}
			return nil
		})
	})
	return all, got
}

var bank = map[string]func(*testing.T){
	// K1: overflow at high numbers
	"B001 aws/aws-sdk-java#874": func(t *testing.T) {
		every(backoff.Exponential(5*time.Second, 2).Cap(20*time.Second), upTo(10_000), func(n int, lo, hi time.Duration) {
			assert.Equal(t, min(5*time.Second<<min(n-1, 3), 20*time.Second), lo)
		})
	},
	"B002 onosproject/onos-lib-go#127": func(t *testing.T) {
		before := time.Duration(0)
		every(backoff.Exponential(10*time.Millisecond, 2), upTo(2000), func(_ int, lo, _ time.Duration) {
			assert.GreaterOrEqual(t, lo, max(before, 1))
			before = lo
		})
		assert.Equal(t, longest, before)
	},
	"B004 avast/retry-go#159": func(t *testing.T) {
		s := backoff.Exponential(time.Second, 2).FullJitter()
		for _, n := range []int{34, 40, 1e6, math.MaxInt} {
			assert.GreaterOrEqual(t, s.Delay(n, 0, math.MaxUint64), time.Second<<33-1)
		}
	},
	"B005 openai/openai-go#489": func(t *testing.T) { // also run with GOARCH=386
		every(backoff.Exponential(time.Second/2, 2).Cap(8*time.Second).ProportionalJitter(0.25), upTo(100)[4:], func(_ int, lo, hi time.Duration) {
			assert.Equal(t, []time.Duration{6 * time.Second, 8 * time.Second}, []time.Duration{lo, hi})
		})
	},
	"B007 qdrant/go-client#153": func(t *testing.T) {
		assert.Equal(t, 5*time.Second, backoff.Exponential(100*time.Millisecond, 2).Cap(5*time.Second).Delay(37, 0, 0))
	},
	"B008 App-vNext/Polly#1866": func(t *testing.T) {
		assert.Equal(t, 5*time.Minute, backoff.Exponential(2*time.Second, 2).Cap(5*time.Minute).Delay(60, 0, 0))
	},
	"B010 cenkalti/backoff#191": func(t *testing.T) {
		var reason retry.Reason
		p := retry.New().MaxElapsed(time.Second).Hints(retry.HintClamp, longest).Events(func(_ context.Context, e retry.Event) { reason = e.Reason })
		waited, err := waits(t, p, 9, retry.After(longest, errBusy))
		assert.Empty(t, waited)
		assert.Equal(t, errBusy, err)
		assert.Equal(t, retry.TimeWouldExceed, reason)
	},
	"B011 reactor/reactor-addons#164": func(t *testing.T) {
		p := retry.New().MaxRetries(retry.Unlimited).Backoff(backoff.Exponential(100*time.Millisecond, 2).Cap(time.Second))
		waited, err := waits(t, p, 200, errBusy)
		assert.NoError(t, err)
		assert.Len(t, waited, 200)
		assert.Equal(t, slices.Repeat([]time.Duration{time.Second}, 196), waited[4:])
	},
	"B013 ethereum-optimism/optimism#7690": func(t *testing.T) {
		lo, hi := backoff.Exponential(time.Second, 2).Cap(10 * time.Second).AdditiveJitter(250 * time.Millisecond).Bounds(100)
		assert.Equal(t, []time.Duration{9750 * time.Millisecond, 10 * time.Second}, []time.Duration{lo, hi})
	},
	"B014 hemilabs/heminetwork#664": func(t *testing.T) {
		every(backoff.Exponential(time.Second, 2).Cap(30*time.Second).ProportionalJitter(0.1), []int{63, 64, 65}, func(_ int, lo, hi time.Duration) {
			assert.Equal(t, []time.Duration{27 * time.Second, 30 * time.Second}, []time.Duration{lo, hi})
		})
		assert.Equal(t, time.Duration(1), backoff.Constant(1).ProportionalJitter(0.1).Delay(1, 0, math.MaxUint64), "a window of no width")
	},
	// K2: bounds and distribution of jitter
	"B016 spring-attic/spring-retry#126": func(t *testing.T) {
		s := backoff.Exponential(50*time.Millisecond, 2).Cap(3 * time.Second).SpringJitter(20 * time.Millisecond)
		for n := range 20 {
			lo, hi := s.Bounds(n + 1)
			least, most := longest, time.Duration(0)
			for range 5000 {
				d := s.Delay(n+1, 0, rand.Uint64())
				least, most = min(least, d), max(most, d)
			}
			assert.True(t, lo <= least && most < hi && hi <= 3*time.Second)
			assert.Less(t, least-lo+hi-most, (hi-lo)/100, "what is documented is what is seen")
		}
	},
	"B017 langchain-ai/langgraph#7850": func(t *testing.T) {
		_, hi := backoff.Constant(time.Second).Cap(time.Second).AdditiveJitter(time.Second).Bounds(1)
		assert.Equal(t, time.Second, hi)
	},
	"B019 sethvargo/go-retry#38": func(t *testing.T) {
		for _, s := range []backoff.Strategy{
			backoff.Constant(time.Second).ProportionalJitter(0), backoff.Constant(time.Second).AdditiveJitter(0), backoff.Constant(time.Second).SpringJitter(0),
		} {
			assert.Equal(t, time.Second, s.Delay(1, 0, math.MaxUint64))
		}
	},
	"B020 kube-rs/kube#1896": func(t *testing.T) {
		seen := map[time.Duration]bool{}
		s := backoff.Exponential(100*time.Millisecond, 2).EqualJitter()
		for range 1000 {
			seen[s.Delay(3, 0, rand.Uint64())] = true
		}
		assert.GreaterOrEqual(t, len(seen), 900)
	},
	"B022 spring-projects/spring-framework#35140": func(t *testing.T) {
		lo, hi := backoff.Constant(999 * time.Microsecond).SpringJitter(500 * time.Nanosecond).Bounds(1)
		assert.Equal(t, []time.Duration{999_000, 999_500}, []time.Duration{lo, hi})
	},
	"B023 grpc/proposal#452": func(t *testing.T) {
		lo, hi := backoff.Constant(time.Second).ProportionalJitter(0.2).Bounds(1)
		assert.Equal(t, []time.Duration{800 * time.Millisecond, 1200 * time.Millisecond}, []time.Duration{lo, hi})
		lo, _ = backoff.Constant(time.Second).FullJitter().Floor(100 * time.Millisecond).Bounds(1)
		assert.Equal(t, 100*time.Millisecond, lo)
	},
	"B025 Polly-Contrib/Polly.Contrib.WaitAndRetry#24": func(t *testing.T) {
		s, prev := backoff.Decorrelated(time.Second), time.Duration(0)
		for n := range 200 {
			prev = s.Delay(n+1, prev, math.MaxUint64)
			assert.GreaterOrEqual(t, prev, time.Second)
		}
		assert.Equal(t, longest-1, prev, "saturated")
	},
	// K3: counting, and the first wait
	"B026 apache/iggy#4084": func(t *testing.T) {
		waited, _ := waits(t, retry.New().Backoff(backoff.Exponential(100*time.Millisecond, 2).Cap(time.Second)), 2, errBusy)
		assert.Equal(t, []time.Duration{100 * time.Millisecond, 200 * time.Millisecond}, waited)
	},
	"B028 djc/tokio-retry#22": func(t *testing.T) {
		every(backoff.Exponential(50*time.Millisecond, 2), upTo(5), func(n int, lo, _ time.Duration) {
			assert.Equal(t, 50*time.Millisecond<<(n-1), lo)
		})
	},
	"B029 jd/tenacity#175": func(t *testing.T) {
		assert.Equal(t, 200*time.Millisecond, backoff.Exponential(200*time.Millisecond, 2).Delay(1, 0, 0))
	},
	"B031 avast/retry-go#113": func(t *testing.T) {
		for _, n := range []int{2, retry.Unlimited} {
			var failed []int
			calls := 0
			p := retry.New().MaxRetries(n).Backoff(backoff.Strategy{}).Events(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.Failed {
					failed = append(failed, e.Call)
				}
			})
			_ = retry.Run(t.Context(), p, func(context.Context) error {
				if calls++; calls == 3 {
					return retry.Permanent(errBusy)
				}
				return errBusy
			})
			assert.Equal(t, []int{1, 2, 3}, failed)
		}
	},
	"B032 kubernetes/kubernetes#131122": func(t *testing.T) {
		p := retry.New().MaxRetries(math.MaxInt32).Backoff(backoff.Exponential(time.Second, 2).Cap(time.Minute))
		waited, err := waits(t, p, 20, errBusy)
		assert.NoError(t, err)
		assert.Equal(t, slices.Concat([]time.Duration{1e9, 2e9, 4e9, 8e9, 16e9, 32e9}, slices.Repeat([]time.Duration{time.Minute}, 14)), waited)
	},
	"B035 failsafe-lib/failsafe#164": func(t *testing.T) {
		var failed []int
		p := retry.New().Backoff(backoff.Strategy{}).Events(func(_ context.Context, e retry.Event) {
			if e.Kind == retry.Failed {
				failed = append(failed, e.Call)
			}
		})
		_ = retry.Run(t.Context(), p, func(context.Context) error { return errBusy })
		assert.Equal(t, []int{1, 2, 3, 4}, failed)
	},
	// K4: zero, negative, NaN and infinite settings
	"B037 openai/openai-agents-python#3270": func(t *testing.T) {
		p := retry.New().Backoff(backoff.Exponential(-time.Second, -2).Cap(-time.Second))
		err := retry.Run(t.Context(), p, func(context.Context) error { t.Error("called"); return nil })
		for _, name := range []string{"the first wait is -1s", "the factor is -2", "Cap is -1s"} {
			assert.ErrorContains(t, err, name)
		}
	},
	"B038 kent8192/reinhardt-web#765": func(t *testing.T) {
		for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 0.5} {
			assert.Error(t, backoff.Exponential(time.Second, x).Err())
		}
	},
	"B040 temporalio/sdk-go#413": func(t *testing.T) {
		var zero retry.Policy
		assert.NoError(t, zero.Err())
		assert.Equal(t, retry.New().String(), zero.String())
	},
	"B041 cenkalti/backoff#120": func(t *testing.T) {
		var literal retry.Policy
		for _, p := range []retry.Policy{literal, retry.New()} {
			p = p.MaxRetries(retry.Unlimited).MaxElapsed(5 * time.Second)
			waited, err := waits(t, p, 1000, errBusy)
			assert.Equal(t, errBusy, err)
			assert.Len(t, waited, 4)
		}
	},
	"B043 openai/openai-agents-js#1701": func(t *testing.T) {
		for _, text := range []string{"retries=NaN", "retries=-1", "retries=2.5", "retries=Inf"} {
			_, err := retry.Parse(text)
			assert.Error(t, err)
		}
	},
	// K5: budgets, deadlines, clocks
	"B046 cenkalti/backoff#159": func(t *testing.T) {
		var reason retry.Reason
		p := retry.New().Events(func(_ context.Context, e retry.Event) { reason = e.Reason })
		_, err := waits(t, p, 1, retry.After(30*time.Minute, errBusy))
		assert.Equal(t, errBusy, err)
		assert.Equal(t, retry.HintTooLong, reason)
		waited, err := waits(t, p.Hints(retry.HintRefuse, time.Hour), 1, retry.After(30*time.Minute, errBusy))
		assert.NoError(t, err)
		assert.Equal(t, []time.Duration{30 * time.Minute}, waited)
	},
	"B047 hashicorp/go-retryablehttp#272": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			began := time.Now()
			err := retry.Run(ctx, retry.New().Backoff(backoff.Constant(10*time.Minute)), func(context.Context) error { return errBusy })
			assert.Zero(t, time.Since(began))
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.ErrorIs(t, err, errBusy)
		})
	},
	"B049 failsafe-go/failsafe-go#29": func(t *testing.T) {
		waited, err := waits(t, retry.New().MaxElapsed(72*time.Hour).MaxRetries(1), 1, errBusy)
		assert.NoError(t, err)
		assert.Len(t, waited, 1)
	},
	"B050 googleapis/gax-go#420": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithDeadline(t.Context(), time.Now())
			defer cancel()
			err := retry.Run(ctx, retry.New().On(retry.Is(context.DeadlineExceeded)), func(context.Context) error { t.Error("called"); return nil })
			assert.ErrorIs(t, err, context.DeadlineExceeded)

			ctx, cancel = context.WithTimeout(t.Context(), 1500*time.Millisecond)
			defer cancel()
			calls := 0
			p := retry.New().AttemptTimeout(time.Second).Backoff(backoff.Strategy{}).On(retry.Is(context.DeadlineExceeded))
			err = retry.Run(ctx, p, func(ctx context.Context) error { calls++; <-ctx.Done(); return ctx.Err() })
			assert.Equal(t, 2, calls, "the attempt's timeout is retried, the caller's is not")
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		})
	},
	"B052 kubernetes-sigs/cluster-api-provider-aws#1069": func(t *testing.T) {
		calls, wait := retry.New().MaxRetries(99).Backoff(backoff.Exponential(2*time.Second, 1.5)).WorstCase()
		assert.Equal(t, 100, calls)
		assert.Equal(t, longest, wait)
	},
	"B055 giantswarm/kvm-operator#243": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := retry.New().MaxElapsed(5 * time.Second)
			time.Sleep(6 * time.Minute)
			calls := 0
			assert.NoError(t, retry.Run(t.Context(), p, func(context.Context) error {
				if calls++; calls == 1 {
					return errBusy
				}
				return nil
			}))
		})
	},
	// K6: cancellation, and the error that comes back
	"B056 kubernetes/kubernetes#140402": func(t *testing.T) {
		_, err := waits(t, retry.New(), 9, context.Canceled)
		assert.ErrorIs(t, err, context.Canceled)
	},
	"B058 googleapis/gax-go#235": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := retry.Run(ctx, retry.New().MaxRetries(retry.Unlimited).Backoff(backoff.Constant(300*time.Millisecond)), func(context.Context) error { return errBusy })
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.ErrorIs(t, err, errBusy)
		})
	},
	"B059 avast/retry-go#63, B062 cenkalti/backoff#157, B064 spring-projects/spring-framework#35434": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(1500*time.Millisecond, func() { cancel(errShutdown) }) // in the second wait
			first, second := errors.New("first"), errors.New("second")
			calls := 0
			err := retry.Run(ctx, retry.New(), func(context.Context) error { calls++; return []error{first, second}[calls-1] })
			for _, want := range []error{context.Canceled, errShutdown, second} {
				assert.ErrorIs(t, err, want)
			}
			var e *retry.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, 2, e.Attempts)
			assert.Equal(t, []error{first}, e.Earlier())
		})
	},
	"B061 cockroachdb/cockroach#47063": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Millisecond, func() { cancel(nil) })
			assert.Error(t, retry.Run(ctx, retry.New(), func(context.Context) error { return errBusy }))
		})
	},
	"B065 sindresorhus/p-retry#97": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			began := time.Now()
			_ = retry.Run(ctx, retry.New().Backoff(backoff.Constant(10*time.Second)), func(context.Context) error { return errBusy })
			assert.Equal(t, time.Second, time.Since(began))
		})
	},
	// K7: permanent errors and classification
	"B071 cenkalti/backoff#140, B073 cenkalti/backoff#123": func(t *testing.T) {
		waited, err := waits(t, retry.New(), 9, fmt.Errorf("phone: %w", retry.Permanent(errBusy)))
		assert.Empty(t, waited)
		assert.ErrorIs(t, err, errBusy)
		assert.EqualError(t, err, "phone: busy")
	},
	"B074 avast/retry-go#110": func(t *testing.T) {
		waited, err := waits(t, retry.New().MaxRetries(retry.Unlimited), 9, retry.Permanent(errBusy))
		assert.Empty(t, waited)
		assert.Equal(t, errBusy, err)
	},
	"B076 spring-attic/spring-retry#500": func(t *testing.T) {
		_, err := waits(t, retry.New().On(retry.Is(errShutdown)).WrapErrors(), 9, errBusy)
		var e *retry.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, retry.NotRetryable, e.Reason)
		assert.Equal(t, errBusy, e.Last)
	},
	"B077 resilience4j/resilience4j#2209": func(t *testing.T) {
		p := retry.New().If(func(error) bool { panic("predicate") })
		assert.PanicsWithValue(t, "predicate", func() { _ = retry.Run(t.Context(), p, func(context.Context) error { return errBusy }) })
	},
	// K8: shared mutable state
	"B080 cenkalti/backoff#183": func(t *testing.T) {
		p := retry.New().Backoff(backoff.Exponential(time.Second, 2))
		synctest.Test(t, func(t *testing.T) {
			var wg sync.WaitGroup
			defer wg.Wait()
			for range 64 {
				wg.Go(func() {
					for range 50 {
						began, calls := time.Now(), 0
						_ = retry.Run(t.Context(), p, func(context.Context) error {
							if calls++; calls < 3 {
								return errBusy
							}
							return nil
						})
						assert.Equal(t, 3*time.Second, time.Since(began))
					}
				})
			}
		})
	},
	"B083 apache/pinot#2711": func(t *testing.T) {
		p := retry.New().MaxRetries(9).Backoff(backoff.Exponential(time.Second, 2))
		_, _ = waits(t, p, 5, errBusy)
		waited, _ := waits(t, p, 1, errBusy)
		assert.Equal(t, []time.Duration{time.Second}, waited)
	},
	// K11, as far as it is about retries
	"B110 eapache/go-resiliency#36, B112 failsafe-go/failsafe-go#134": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			parent, cancel := context.WithCancel(t.Context())
			defer cancel()
			p := retry.New().Backoff(backoff.Constant(time.Hour)).AttemptTimeout(time.Hour)
			heap := func() uint64 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			before := heap()
			for range 20_000 {
				ctx, stop := context.WithCancel(parent)
				_ = retry.Run(ctx, p, func(context.Context) error { return nil })
				_ = retry.Run(ctx, p, func(context.Context) error { time.AfterFunc(time.Second, stop); return errBusy })
			}
			assert.Less(t, float64(heap())-float64(before), 1e6, "nothing is kept of 40,000 runs")
		})
	},
	// K9: counting anew
	"B086 reactor/reactor-core#1978, B091 reactor/reactor-addons#140": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var waited []time.Duration
			p := retry.New().Backoff(backoff.Exponential(time.Second, 2)).Events(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.Scheduled {
					waited = append(waited, e.Delay)
				}
			})
			runs := 0
			s := stream.Stream[int](func(_ context.Context, yield func(int) bool) error {
				if runs++; runs == 3 {
					yield(1)
				}
				if runs < 4 {
					return errBusy
				}
				yield(2)
				return nil
			})
			got, err := s.Retry(p, stream.Restart[int]().Reset(stream.ResetAfter(1).MaxTotal(100))).Collect(t.Context())
			assert.NoError(t, err)
			assert.Equal(t, []int{1, 2}, got)
			assert.Equal(t, []time.Duration{time.Second, 2 * time.Second, time.Second}, waited)
		})
	},
	"B089 yetone/cumora#30": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second-1)
			defer cancel()
			connects := 0
			s := stream.Stream[int](func(context.Context, func(int) bool) error { connects++; return nil })
			_, err := s.Repeat(backoff.Constant(time.Second)).Collect(ctx)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, 3, connects)
		})
	},
	// K10 and others, of streams
	"B034 ReactiveX/RxJava#2826": func(t *testing.T) {
		for _, between := range []bool{false, true} {
			subscriptions, failures := 0, 0
			s := stream.Stream[int](func(context.Context, func(int) bool) error { subscriptions++; return errBusy })
			if between {
				s = stream.Map(s, func(v int) int { return v })
			}
			p := retry.New().Backoff(backoff.Strategy{}).MaxRetries(retry.Unlimited).If(func(error) bool { failures++; return failures <= 5 })
			_, err := s.Retry(p, stream.Restart[int]()).Collect(t.Context())
			assert.Equal(t, errBusy, err)
			assert.Equal(t, 6, subscriptions)
		}
	},
	"B082 spiffe/go-spiffe#155": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := retry.New().MaxRetries(10).Backoff(backoff.Exponential(time.Second, 2))
			failing := func(failures int) stream.Stream[int] {
				return stream.Defer(func(context.Context) (int, error) {
					if failures--; failures >= 0 {
						return 0, errBusy
					}
					return 1, nil
				}).Retry(p, stream.BeforeFirst[int]())
			}
			_, err := failing(10).First(t.Context())
			assert.NoError(t, err)
			began := time.Now()
			_, err = failing(1).First(t.Context())
			assert.NoError(t, err)
			assert.Equal(t, time.Second, time.Since(began))
		})
	},
	"B092 ReactiveX/RxPY#202": func(t *testing.T) {
		shared := stream.FromSeq2(func(yield func(int, error) bool) { yield(0, errBusy) })
		_, err := shared.Stream().Retry(retry.New().Backoff(backoff.Strategy{}), stream.Restart[int]()).Collect(t.Context())
		assert.Equal(t, stream.ErrUsed, err, "told at the first retry, and not the old failure again")
	},
	"B094 ReactiveX/RxJava#4840": func(t *testing.T) {
		made := 0
		s := stream.From(func(context.Context) iter.Seq2[int, error] {
			made++
			v := made
			return func(yield func(int, error) bool) { _ = yield(v, nil) && v < 3 && yield(0, errBusy) }
		})
		got, err := s.Retry(retry.New().Backoff(backoff.Strategy{}), stream.Restart[int]()).Collect(t.Context())
		assert.NoError(t, err)
		assert.Equal(t, []int{1, 2, 3}, got, "computed anew in every run")
	},
	"B098 ecadlabs/taquito#724": func(t *testing.T) { // the stack and the heap: package stream's own tests
		runs := 0
		s := stream.Defer(func(context.Context) (int, error) {
			if runs++; runs <= 1_000_000 {
				return 0, errBusy
			}
			return runs, nil
		})
		v, err := s.Retry(retry.New().Backoff(backoff.Strategy{}).MaxRetries(retry.Unlimited), stream.BeforeFirst[int]()).First(t.Context())
		assert.NoError(t, err)
		assert.Equal(t, 1_000_001, v)
	},
	"B100 reactor/reactor-core#3708": func(t *testing.T) {
		hot := make(chan int, 1)
		hot <- 1
		close(hot) // when its last subscriber leaves
		source := stream.FromChan(hot)
		s := stream.MapErr(source.Stream(), func(int) (int, error) { return 0, errBusy })
		_, err := s.Retry(retry.New().Backoff(backoff.Strategy{}), stream.Restart[int]()).Collect(t.Context())
		assert.Equal(t, stream.ErrUsed, err, "not a silent end")
	},
	"B101 ReactiveX/rxdart#428": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			subscriptions := 0
			s := stream.Stream[int](func(context.Context, func(int) bool) error { subscriptions++; return errBusy })
			_, err := s.Retry(retry.New().MaxRetries(5).Backoff(backoff.Constant(100*time.Millisecond)), stream.Restart[int]()).Collect(ctx)
			assert.ErrorIs(t, err, errBusy)
			time.Sleep(time.Hour)
			assert.Equal(t, 1, subscriptions)
		})
	},
	"B103 ReactiveX/RxGo#50": func(t *testing.T) {
		for want, mode := range map[[5]int]stream.Mode[int]{{1, 2, 1, 2, 3}: stream.Restart[int](), {1, 2, 3}: stream.SkipSeen[int]()} {
			runs := 0
			s := stream.Stream[int](func(_ context.Context, yield func(int) bool) error {
				if runs++; yield(1) && yield(2) && runs == 1 {
					return errBusy
				}
				yield(3)
				return nil
			})
			got, err := s.Retry(retry.New().Backoff(backoff.Strategy{}), mode).Collect(t.Context())
			assert.NoError(t, err)
			assert.Equal(t, want[:len(got)], got)
		}
	},
	// K6, of futures
	"B067 failsafe-lib/failsafe#52, helidon-io/helidon#3650": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			calls := 0
			f := future.Retry(ctx, retry.New(), func(context.Context) (int, error) { calls++; return 0, errBusy })
			time.Sleep(1500 * time.Millisecond) // after the second call
			cancel()
			_, err := f.Await(t.Context())
			assert.ErrorIs(t, err, context.Canceled)
			time.Sleep(time.Hour)
			assert.Equal(t, 2, calls)
		})
	},
	"B068 failsafe-lib/failsafe#266": func(t *testing.T) {
		for _, start := range []func(context.Context, func(context.Context) (int, error)) *future.Future[int]{
			future.Go[int],
			func(ctx context.Context, op func(context.Context) (int, error)) *future.Future[int] {
				return future.Retry(ctx, retry.New(), op)
			},
			func(ctx context.Context, op func(context.Context) (int, error)) *future.Future[int] {
				return future.Hedge(ctx, future.HedgePolicy{}, op)
			},
		} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				f := start(ctx, func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, context.Cause(ctx) })
				cancel(errShutdown)
				_, err := f.Await(t.Context())
				assert.ErrorIs(t, err, errShutdown)
			})
		}
	},
	"B070 helidon-io/helidon#12463": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			f := future.Retry(ctx, retry.New(), func(context.Context) (int, error) { t.Error("called"); return 0, nil })
			_, err := f.Await(t.Context())
			assert.ErrorIs(t, err, context.Canceled)
			<-f.Done()
		})
	},
	// K10, of futures
	"B095 resilience4j/resilience4j#984": func(t *testing.T) {
		calls := 0
		start := func(ctx context.Context) *future.Future[int] {
			return future.Go(ctx, func(context.Context) (int, error) { calls++; return 0, errBusy })
		}
		quick := retry.New().Backoff(backoff.Strategy{})
		_, err := retry.Do(t.Context(), quick, func(ctx context.Context) (*future.Future[int], error) { return start(ctx), nil })
		assert.Equal(t, retry.ErrEagerResult, err)
		assert.Zero(t, calls)
		_, err = retry.Do(t.Context(), quick, func(ctx context.Context) (int, error) { return start(ctx).Await(ctx) })
		assert.Equal(t, errBusy, err)
		assert.Equal(t, 4, calls)
	},
	"B104 medikoo/memoizee#117": func(t *testing.T) {
		runs := 0
		memo := future.NewMemo(func(context.Context) (int, error) {
			if runs++; runs == 1 {
				return 0, errBusy
			}
			return runs, nil
		})
		_, err := memo.Get(t.Context())
		assert.Equal(t, errBusy, err)
		v, err := memo.Get(t.Context())
		assert.NoError(t, err)
		assert.Equal(t, 2, v)
	},
	"B106 redis/rueidis#1014": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			memo := future.NewMemo(func(context.Context) (int, error) { time.Sleep(time.Second); return 0, errBusy })
			for _, r := range future.AllSettled(t.Context(), future.Go(t.Context(), memo.Get), future.Go(t.Context(), memo.Get)) {
				assert.Equal(t, errBusy, r.Err)
			}
		})
	},
	// K11, of futures
	"B107 reugn/async#7": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, never := future.New[int]() // who still waits for it when the bubble ends, fails that
			for range 100 {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				_, err := never.Await(ctx)
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				cancel()
			}
		})
	},
	"B109 sourcegraph/conc#106": func(t *testing.T) {
		_, err := future.RunAll(t.Context(), future.NoLimit,
			func(context.Context) (int, error) { panic("at once") },
			func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() })
		var p *future.PanicError
		require.ErrorAs(t, err, &p)
		assert.Equal(t, "at once", p.Value)
		assert.Contains(t, string(p.Stack), "bank_test.go")
	},
	"B113 authzed/spicedb#235": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { // a goroutine left behind fails the bubble
			_, err := future.Hedge(t.Context(), future.HedgeAfter(1), func(context.Context) (int, error) { time.Sleep(time.Second); return 1, nil }).Await(t.Context())
			assert.NoError(t, err)
		})
	},
	// K12: hooks and events
	"B116 resilience4j/resilience4j#1761": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var scheduled [2]int
			for i := range scheduled {
				p := retry.New().Events(func(_ context.Context, e retry.Event) {
					if e.Kind == retry.Scheduled {
						scheduled[i]++
					}
				})
				calls := 0
				op := func(context.Context) (int, error) {
					if calls++; calls < 3 {
						return calls, errBusy // no retry depends on a result: an operation that does not like it says so
					}
					return calls, nil
				}
				if i == 0 {
					_, _ = retry.Do(t.Context(), p, op)
				} else {
					_, _ = future.Retry(t.Context(), p, op).Await(t.Context())
				}
			}
			assert.Equal(t, [2]int{2, 2}, scheduled)
		})
	},
	"B115 avast/retry-go#129": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			_ = retry.Run(t.Context(), retry.New().MaxRetries(1).Backoff(backoff.Constant(2*time.Second)), func(context.Context) error { return errBusy })
			assert.Equal(t, 2*time.Second, time.Since(began))
		})
	},
	"B118 failsafe-lib/failsafe#60": func(t *testing.T) {
		p := retry.New().Events(func(context.Context, retry.Event) { panic("hook") })
		assert.PanicsWithValue(t, "hook", func() { _ = retry.Run(t.Context(), p, func(context.Context) error { return nil }) })
	},
	// K13: hints
	"B119 hashicorp/go-retryablehttp#295": func(t *testing.T) {
		p := retry.New().Backoff(backoff.Constant(time.Second).Cap(3 * time.Second))
		hour := retry.After(time.Hour, errBusy)
		for mode, want := range map[retry.HintMode][]time.Duration{
			retry.HintRefuse: nil, retry.HintClamp: {3 * time.Second}, retry.HintIgnore: {time.Second},
		} {
			waited, _ := waits(t, p.Hints(mode, 3*time.Second), 1, hour)
			assert.Equal(t, want, waited)
		}
		waited, _ := waits(t, p.Hints(retry.HintRefuse, 2*time.Hour), 1, hour)
		assert.Equal(t, []time.Duration{time.Hour}, waited)
	},
	"B121 will-ockmore/httpx-retries#13": func(t *testing.T) {
		p := retry.New().Backoff(backoff.Constant(time.Second).EqualJitter())
		for _, hint := range []time.Duration{-time.Hour, 0, -5} {
			d := p.Next(retry.Failure{Err: retry.After(hint, errBusy), Draw: 1 << 63})
			assert.Equal(t, 750*time.Millisecond, d.Wait, "the strategy's wait, jitter and all")
		}
	},
	"B122 tailscale/tailscale#20071": func(t *testing.T) {
		d := retry.New().Hints(retry.HintClamp, time.Minute).Next(retry.Failure{Err: retry.After(1e9*time.Second, errBusy)})
		assert.Equal(t, time.Minute, d.Wait)
	},
	// K7, K14: budgets
	"B079 aws/aws-sdk-go-v2#3186": func(t *testing.T) {
		errFinalAnswer := errors.New("not found")
		b := budget.New(budget.AWS().Max(14))
		for range 1000 {
			calls := 0
			_, err := retry.Do(t.Context(), retry.New().Backoff(backoff.Strategy{}).Limit(b), func(context.Context) (int, error) {
				if calls++; calls == 1 {
					return 503, errBusy
				}
				return 404, retry.Permanent(errFinalAnswer)
			})
			require.Equal(t, errFinalAnswer, err, "the answer of the second call")
		}
		assert.InDelta(t, 14, b.Snapshot().Tokens, 0)
	},
	"B124 aws/aws-sdk-go-v2#3550": func(t *testing.T) {
		for _, c := range []budget.Config{budget.Default(), budget.GRPC(), budget.AWS(), budget.Finagle()} {
			b := budget.New(c)
			p := retry.New().Backoff(backoff.Strategy{}).Limit(b)
			for range 1000 {
				_ = retry.Run(t.Context(), p, func(context.Context) error { return errBusy })
			}
			for range 100_000 {
				_ = retry.Run(t.Context(), p, func(context.Context) error { return nil })
			}
			calls := 0
			_ = retry.Run(t.Context(), p, func(context.Context) error {
				calls++
				return errBusy
			})
			assert.Equal(t, 4, calls, "%v", c)
		}
	},
	"B127 grpc/proposal#27": func(t *testing.T) {
		b := budget.New(budget.Default())
		p := retry.New().Backoff(backoff.Strategy{}).Limit(b)
		for range 1_000_000 {
			_ = retry.Run(t.Context(), p, func(context.Context) error { return nil })
		}
		calls := 0
		for range 1000 {
			_ = retry.Run(t.Context(), p, func(context.Context) error {
				calls++
				return errBusy
			})
		}
		assert.Equal(t, 1000+b.Snapshot().Max, calls)
	},
	"B128 grpc/grpc-go#2670": func(t *testing.T) {
		for _, n := range []int{1, 1000, 1_000_000} {
			assert.NoError(t, budget.Default().Max(n).Err())
			assert.NoError(t, budget.GRPC().Max(n).Err())
		}
		assert.Error(t, budget.Default().Max(0).Err())
		assert.Error(t, budget.Default().Max(1_000_001).Err())
	},
	"B130 awslabs/aws-sdk-rust#1234": func(t *testing.T) { // that it is there is seen by what it does
		for _, d := range drivers {
			synctest.Test(t, func(t *testing.T) {
				p := retry.Standard().Limit(budget.New(budget.Default()))
				calls := 0
				for range 1000 {
					_, _ = d.run(t.Context(), p, func(context.Context) (int, error) {
						calls++
						return 0, errBusy
					})
				}
				assert.Equal(t, 1100, calls, d.name)
			})
		}
	},
	// K15: hedging
	"B133 failsafe-go/failsafe-go#141": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := budget.New(budget.Default().Max(1))
			_, _ = b.Allow(t.Context(), errBusy) // that was all
			tries := 0
			v, err := future.Hedge(t.Context(), future.HedgeAfter(time.Millisecond).Limit(b), func(ctx context.Context) (int, error) {
				tries++
				time.Sleep(100 * time.Millisecond)
				return 1, ctx.Err()
			}).Await(t.Context())
			assert.NoError(t, err)
			assert.Equal(t, 1, v)
			assert.Equal(t, 1, tries)
		})
	},
	"B134 erpc/erpc#418": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			var tries atomic.Int64
			v, err := future.Hedge(t.Context(), future.HedgeAfter(time.Millisecond), func(ctx context.Context) (int, error) {
				if tries.Add(1) == 1 {
					time.Sleep(5 * time.Millisecond)
					return 0, errBusy
				}
				time.Sleep(19 * time.Millisecond)
				return 2, ctx.Err()
			}).Await(t.Context())
			assert.NoError(t, err)
			assert.Equal(t, 2, v)
			assert.Equal(t, 20*time.Millisecond, time.Since(began))
		})
	},
	"B137 thomhurst/Kevlar#46": func(t *testing.T) { // at every instant: package future's own tests
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second-1)
			defer cancel()
			tries := 0
			_, err := future.Hedge(ctx, future.HedgeAfter(time.Second), func(ctx context.Context) (int, error) {
				tries++
				time.Sleep(time.Minute)
				return 0, ctx.Err()
			}).Await(t.Context())
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, 1, tries)
		})
	},
}

func TestPublicFaultsOfOtherLibraries(t *testing.T) {
	for name, check := range bank {
		t.Run(strings.ReplaceAll(name, "/", ":"), check)
	}
	for id, reason := range notApplicable {
		t.Logf("%s is not tested: %s", id, reason)
	}
}

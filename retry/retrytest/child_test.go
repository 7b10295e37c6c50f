package retrytest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/budget"
	"github.com/dacapo-go/dacapo/retry/retrytest"
)

// child is set where the test binary runs itself again: only there may tests fail.
const child = "RETRYTEST_CHILD"

// A failing test is one that is to fail, and what it is to say.
type failing struct {
	name string
	want []string // parts of its output
	test func(*testing.T)
}

// policyIs is a test of a policy, which is to say one line.
func policyIs(name, line string, p retry.Policy, errs ...error) failing {
	line = fmt.Sprintf(".go:%%d: retrytest: %s (policy %v)\n", line, p)
	return failing{name, []string{strings.SplitN(line, "%d", 2)[1]}, func(t *testing.T) { retrytest.CheckPolicy(t, p, errs...) }}
}

func failingPolicies() []failing {
	boom := `Next(Failure{Err: *errors.errorString "boom"})`
	asked, spans, began := new(atomic.Int64), new(atomic.Int64), time.Now()
	return []failing{
		policyIs("impure predicate", `law "pure": `+boom+` says retry after 1s, and then stop (not retryable) when asked again`,
			retry.New().If(func(error) bool { return asked.Add(1)%2 == 1 })),
		policyIs("predicate that knows one error only", `law "total": `+boom+` panicked: unknown: boom`,
			retry.New().If(func(err error) bool {
				if errors.Is(err, ErrBusy) {
					return true
				}
				panic("unknown: " + err.Error())
			}), ErrBusy),
		policyIs("matcher that is not total", `law "total": Next(Failure{Err: *fs.PathError "open boom: file does not exist"}) panicked: no path`,
			retry.New().Except(retry.Match(func(err error) bool {
				if strings.HasPrefix(err.Error(), "open") {
					panic("no path")
				}
				return false
			}))),
		policyIs("clock in a predicate", `law "pure": `+boom+` says retry after 1s, and then stop (not retryable) at another time of the day or the year`,
			retry.New().If(func(error) bool { return time.Since(began) < time.Hour })),
		policyIs("impure Func", `law "pure": `+boom+` says retry after 1ms, and then retry after 2ms when asked again`,
			retry.New().Backoff(backoff.Func(func(int) (lo, hi time.Duration) {
				d := time.Duration(spans.Add(1)) * time.Millisecond
				return d, d
			}))),
		policyIs("Func that ends too soon", `law "total": Next(Failure{Err: *errors.errorString "boom", Retries: 2}) panicked: runtime error: index out of range [2] with length 2`,
			retry.New().Backoff(backoff.Func(func(n int) (lo, hi time.Duration) {
				d := []time.Duration{1, 2}[n-1]
				return d, d
			}))),
		policyIs("Rand of 32 bits", `law "whole random words": bit 63 is 0 in each of 64 words from Rand: want 64 random bits, as rand.Uint64 gives them`,
			retry.Standard().Rand(func() uint64 { return uint64(rand.Uint32()) })),
		policyIs("Rand of 63 bits", `law "whole random words": bit 63 is 0 in each of 64 words from Rand: want 64 random bits, as rand.Uint64 gives them`,
			retry.Standard().Rand(func() uint64 { return uint64(rand.Int64()) })),
		policyIs("Rand that panics", `law "total": Rand panicked: no entropy`,
			retry.Standard().Rand(func() uint64 { panic("no entropy") })),
		policyIs("nothing retried", `law "retries its errors": it retries none of those that were tried: want one that it is to retry, as in CheckPolicy(t, p, ErrBusy)`,
			retry.New().On(retry.Is(ErrBusy))),
		policyIs("an error that is not retried", `law "retries its errors": Next(Failure{Err: *errors.errorString "busy"}) says stop (not retryable)`,
			retry.New().Except(retry.Is(ErrBusy)), ErrBusy),
		policyIs("no time for a wait", `law "retries its errors": Next(Failure{Err: *errors.errorString "busy"}) says stop (time would be exceeded)`,
			retry.New().MaxElapsed(time.Second), ErrBusy),
		policyIs("predicate that knows its own error not", `law "total": Next(Failure{Err: *errors.errorString "no such user"}) panicked: which user?`,
			retry.New().If(func(err error) bool {
				if errors.Is(err, ErrNoSuchUser) {
					panic("which user?")
				}
				return true
			}), ErrNoSuchUser),
		policyIs("fault", `law "no fault": retry: MaxRetries is -1: want 0 or more, or retry.Unlimited for no limit`,
			retry.New().MaxRetries(-1)),
	}
}

// bubbleSays is a property in a bubble that fails for what is above 17.
func bubbleSays(name string, prop func(*rapid.T), want ...string) failing {
	want = append(want, "draw n: 18\n")
	return failing{name, want, func(t *testing.T) {
		retrytest.Bubble(t, func(t *rapid.T) {
			if rapid.IntRange(0, 1000).Draw(t, "n") > 17 {
				prop(t)
			}
		})
	}}
}

const misplaced = "retrytest: called in a bubble, which cannot hold another: call it before the bubble\n"

func block() { select {} }

var failingBubbles = []failing{
	bubbleSays("failure", func(t *rapid.T) { t.Fatal("my failure") }, "tests: my failure\n"),
	bubbleSays("assertion", func(t *rapid.T) { assert.Equal(t, 1, 2) }, "expected: 1"),
	bubbleSays("panic", func(*rapid.T) { panic("my panic") }, "[rapid] panic after ", "tests: my panic\n", "child_test.go:"),
	bubbleSays("leak", func(*rapid.T) { go block(); go time.Sleep(time.Hour) },
		"retrytest: the property has returned and goroutines of it are left: have it end them, and wait for them:\n",
		"\tselect (no cases) at child_test.go:", "\tsleep at time.go:"),
	bubbleSays("failure and leak", func(t *rapid.T) { go block(); t.Fatal("my failure") }, "tests: my failure\n", "(and goroutines are left:\n", "\tselect (no cases) at child_test.go:"),
	bubbleSays("panic and leak", func(*rapid.T) { go block(); panic("my panic") }, "tests: my panic\n", "(and goroutines are left:\n"),
	bubbleSays("deadlock", func(*rapid.T) { <-make(chan int) },
		"retrytest: all that runs in the bubble waits, and nothing can wake it:\n", "\tchan receive at child_test.go:"),
	{"rapid.T", []string{"draw n: 18\n", "tests: my failure\n"}, rapid.MakeCheck(func(t *rapid.T) {
		n := rapid.IntRange(0, 1000).Draw(t, "n")
		retrytest.Bubble(t, func(t *rapid.T) {
			if n > 17 {
				t.Fatal("my failure")
			}
		})
	})},
}

func failingTests() []failing {
	all := append(failingPolicies(), failingBubbles...)
	for _, want := range slices.Sorted(maps.Keys(hostile)) {
		s := hostile[want]
		all = append(all, failing{want, []string{".go:", ": retrytest: " + want + "\n"}, func(t *testing.T) { retrytest.CheckStrategy(t, s()) }})
	}
	return append(all,
		failing{"drawn strategy", []string{"draw n: 0\n", `retrytest: law "never negative": Delay(n=1, prev=0s, u=0x0) = -1ns`}, rapid.MakeCheck(func(t *rapid.T) {
			n := rapid.IntRange(0, 1000).Draw(t, "n")
			retrytest.CheckStrategy(t, honest().where(always, time.Duration(-n-1)))
		})},
		failing{"strategy in a bubble", []string{misplaced}, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { retrytest.CheckStrategy(t, honest()) })
		}},
		failing{"policy in a bubble", []string{misplaced}, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { retrytest.CheckPolicy(t, policy, ErrBusy) })
		}},
		failing{"policy in a bubble of ours", []string{misplaced}, func(t *testing.T) {
			retrytest.Bubble(t, func(t *rapid.T) { retrytest.CheckPolicy(t, policy, ErrBusy) })
		}},
		failing{"bubble in a bubble", []string{misplaced}, func(t *testing.T) {
			retrytest.Bubble(t, func(t *rapid.T) { retrytest.Bubble(t, func(*rapid.T) {}) })
		}},
		failing{"after a failure", []string{"first\n"}, func(t *testing.T) {
			t.Error("first")
			retrytest.CheckStrategy(t, honest())
			retrytest.CheckPolicy(t, retry.New())
			retrytest.Bubble(t, func(t *rapid.T) { panic("called") })
		}},
	)
}

// TestThatFails is what the child runs.
func TestThatFails(t *testing.T) {
	if os.Getenv(child) == "" {
		t.Skip("run by the tests below, in a child process")
	}
	for i, f := range failingTests() {
		t.Run(fmt.Sprint(i), f.test)
	}
}

func TestFailuresAreReportedByTheirLawAndSmallestInput(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	for i, f := range failingTests() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			args := []string{fmt.Sprintf("-test.run=^TestThatFails$/^%d$", i), "-rapid.nofailfile"}
			if dir := flag.Lookup("test.gocoverdir"); dir != nil && dir.Value.String() != "" {
				args = append(args, "-test.gocoverdir="+dir.Value.String()) // what runs there counts
			}
			cmd := exec.CommandContext(context.Background(), exe, args...)
			cmd.Env = append(os.Environ(), child+"=1")
			out, err := cmd.CombinedOutput()
			require.Error(t, err)
			assert.NotContains(t, string(out), "already failed", "what rapid panics with")
			assert.Contains(t, string(out), fmt.Sprintf("--- FAIL: TestThatFails/%d ", i))
			for _, want := range f.want {
				assert.Contains(t, string(out), want)
			}
		})
	}
}

func TestAPolicyWithMatchersKeepsItsLawsForItsOwnErrors(t *testing.T) {
	retrytest.CheckPolicy(t, retry.New().On(retry.Is(ErrBusy)), ErrBusy)
	retrytest.CheckPolicy(t, policy, ErrBusy)
	retrytest.CheckPolicy(t, retry.Standard().MaxRetries(retry.Unlimited).Rand(rand.Uint64))
	retrytest.CheckPolicy(t, retry.New().MaxRetries(0).On(retry.Is(ErrBusy)))
}

func TestTheLimiterOfAPolicyIsLeftAlone(t *testing.T) {
	b := budget.New(budget.Default().Max(1))
	_, _ = b.Allow(t.Context(), ErrBusy)
	retrytest.CheckPolicy(t, retry.Standard().Rand(rand.Uint64).Limit(b))
	require.Equal(t, budget.Snapshot{Max: 1}, b.Snapshot())
}

func TestACaseOfAPropertyIsOneCaseInABubble(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cases := 0
		retrytest.Bubble(t, func(*rapid.T) { cases++ })
		require.Equal(t, 1, cases)
	})
}

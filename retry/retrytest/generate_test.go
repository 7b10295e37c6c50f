package retrytest_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/retrytest"
)

func TestDrawnPoliciesKeepTheLawsAndTheirRunsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := retrytest.Policies().Draw(t, "policy")
		retrytest.CheckPolicy(t, p)
		retrytest.Bubble(t, func(t *rapid.T) {
			op := retrytest.Scripts(rapid.Int()).Draw(t, "script").Operation()
			began := time.Now()
			_, _ = retry.Do(t.Context(), p, op.Call)
			calls, wait := p.WorstCase()
			require.LessOrEqual(t, len(op.Calls()), calls)
			const hint, call = time.Hour, time.Minute // at most
			require.LessOrEqual(t, time.Since(began), wait+time.Duration(calls-1)*hint+time.Duration(calls)*call)
		})
	})
}

// every calls see with many drawn values, the same ones each time.
func every[T any](g *rapid.Generator[T], see func(T)) {
	for seed := range 2000 {
		see(g.Example(seed))
	}
}

func TestStrategiesOfEveryCurveAndSettingAreDrawn(t *testing.T) {
	seen := map[string]int{}
	every(retrytest.Strategies(), func(s backoff.Strategy) {
		require.NoError(t, s.Err())
		for _, word := range regexp.MustCompile(`[a-z]+`).FindAllString(s.String(), -1) {
			seen[word]++
		}
	})
	for _, word := range []string{
		"none", "constant", "linear", "exp", "fibonacci", "decorrelated", "list", "func", "then", "cap", "floor",
		"full", "equal", "spring",
	} {
		assert.Greater(t, seen[word], 10, word)
	}
}

func TestPoliciesOfEverySettingAreDrawn(t *testing.T) {
	seen := map[string]int{}
	every(retrytest.Policies(), func(p retry.Policy) {
		require.NoError(t, p.Err())
		for _, word := range strings.Fields(p.String()) {
			name, _, _ := strings.Cut(word, "=")
			seen[name]++
		}
		if calls, wait := p.WorstCase(); assert.LessOrEqual(t, calls, 7) {
			require.LessOrEqual(t, wait, 6*time.Hour)
			seen["minutes"] += map[bool]int{true: 1}[wait > 5*time.Minute]
		}
	})
	for _, word := range []string{"max-elapsed", "attempt-timeout", "hints", "wrap-errors", "attempt-info", "minutes"} {
		assert.Greater(t, seen[word], 20, word)
	}
}

func TestErrorsOfEveryKindAreDrawn(t *testing.T) {
	seen := map[string]int{}
	every(retrytest.Errors(), func(err error) {
		d := retry.New().Next(retry.Failure{Err: err})
		seen[d.Reason.String()+" "+d.Source.String()]++
		seen["cancelled"] += map[bool]int{true: 1}[errors.Is(err, context.Canceled)]
	})
	for _, kind := range []string{"going on backoff", "going on hint", "not retryable backoff", "hint too long backoff", "cancelled"} {
		assert.Greater(t, seen[kind], 20, kind)
	}
}

func TestScriptsThatSucceedAndThatFailAreDrawn(t *testing.T) {
	words := []string{"fail(", "value(1", " in ", ", "}
	seen := make([]int, len(words))
	every(retrytest.Scripts(rapid.Just(1)), func(s retrytest.Script[int]) {
		for i, word := range words {
			seen[i] += map[bool]int{true: 1}[strings.Contains(s.String(), word)]
		}
	})
	assert.Greater(t, slices.Min(seen), 100, "%v of %v", seen, words)
}

func TestAScriptIsShownInWordsWhereItIsDrawn(t *testing.T) {
	s := retrytest.Fail[int](ErrBusy).Takes(time.Second).Then(retrytest.Value(7)).Then(retrytest.Func(func(context.Context) (int, error) { return 0, nil }))
	assert.Equal(t, `fail(*errors.errorString "busy") in 1s, value(7), func`, s.GoString())
}

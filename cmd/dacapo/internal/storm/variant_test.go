package storm

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/storm/sim"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/budget"
)

func TestAPolicyWithABudgetIsRead(t *testing.T) {
	for text, want := range map[string]struct {
		policy  string
		rules   string
		timeout time.Duration
	}{
		"":                                {"retries=3 backoff=constant(1s)", "", 0},
		"budget=none":                     {"retries=3 backoff=constant(1s)", "", 0},
		"retries=5":                       {"retries=5 backoff=constant(1s)", "", 0},
		"budget=default retries=5":        {"retries=5 backoff=constant(1s)", "max=100 deposit=0.1", 0},
		"retries=5 budget=20% ":           {"retries=5 backoff=constant(1s)", "max=100 deposit=0.2", 0},
		"retries=1  budget=aws  calls=":   {"", "", 0},
		"budget=aws":                      {"retries=3 backoff=constant(1s)", budget.AWS().String(), 0},
		"budget=grpc":                     {"retries=3 backoff=constant(1s)", budget.GRPC().String(), 0},
		"budget=finagle":                  {"retries=3 backoff=constant(1s)", budget.Finagle().String(), 0},
		"budget=calls-20%":                {"retries=3 backoff=constant(1s)", "max=100 deposit=0.2 of every run floor=0.001/s", 0},
		"attempt-timeout=2s budget=none":  {"retries=3 backoff=constant(1s) attempt-timeout=2s", "", 2 * time.Second},
		"budget=none\tattempt-timeout=2m": {"", "", 0}, // a tab is none of the spaces between words
	} {
		v, err := Parse(text)
		if want.policy == "" {
			assert.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		assert.Equal(t, want.policy, v.policy.String(), text)
		assert.Equal(t, want.timeout, v.timeout, text)
		assert.Equal(t, text, v.Name)
		if want.rules == "" {
			assert.Nil(t, v.rules, text)
		} else {
			assert.Equal(t, want.rules, v.rules.String(), text)
		}
	}
}

func TestAFaultOfATextHasItsColumn(t *testing.T) {
	for text, want := range map[string]string{
		"retries=3 budget=huge":            `retry: column 18: budget is "huge": want none, default, grpc, aws, finagle, 20%, calls-20% or calls-40%`,
		"budget= retries=3":                `retry: column 8: budget is "": want none, default, grpc, aws, finagle, 20%, calls-20% or calls-40%`,
		"budget=aws retries=-1":            `retry: column 20: retries is "-1": want a number of at least 0, or unlimited`,
		"budget=aws  budget=aws":           "retry: column 13: budget is given a second time: want it once",
		"budget=aws x budget=aws":          "retry: column 14: budget is given a second time: want it once",
		"retries=3 budgets=aws":            `retry: column 11: "budgets" is no setting: want retries=, calls=, backoff=, max-elapsed=, attempt-timeout=, hints=, wrap-errors or attempt-info`,
		"budget=aws backoff=constant(1xs)": `retry: column 29: "1xs" is no duration: want one such as 1.5s, 100ms or 2m`,
	} {
		_, err := Parse(text)
		require.Error(t, err, text)
		assert.Equal(t, want, err.Error(), text)
		_, ok := err.(*retry.ParseError)
		joined, isJoined := err.(interface{ Unwrap() []error })
		assert.True(t, ok || isJoined && len(joined.Unwrap()) == 1)
	}
}

func TestEveryBudgetIsSound(t *testing.T) {
	for _, b := range budgets {
		if b.rules != nil {
			assert.NoError(t, b.rules.Err(), b.name)
		}
	}
}

// Where every call fails, a bucket that was full is all there is. (Of gRPC's ten tokens a run of four
// calls takes four, and the next would leave no more than half.)
func TestABudgetBoundsTheRetriesOfATotalFailure(t *testing.T) {
	for name, want := range map[string]int{"none": 3000, "default": 100, "20%": 100, "grpc": 3, "aws": 35} {
		v, err := Parse("budget=" + name)
		require.NoError(t, err)
		s := sim.New(1)
		client, calls := v.client(s), 0
		for range 1000 {
			client.Do(func(end func(error)) {
				calls++
				end(errFailed)
			}, nil)
			s.RunAll()
		}
		assert.Equal(t, want, calls-1000, name)
	}
}

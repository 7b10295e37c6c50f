package plan

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/retry"
)

var usual = Settings{Rows: 12, Runs: 300, Failing: []float64{0, 0.5, 1}, Seed: 1}

func of(t require.TestingT, text string) Plan {
	p, err := retry.Parse(text)
	require.NoError(t, err, text)
	return Of(p, usual)
}

const ms, s = Millis(time.Millisecond), Millis(time.Second)

func TestTheWindowsOfOneWaitAreExact(t *testing.T) {
	p := of(t, "retries=8 backoff=exp(100ms,2).cap(5s).jitter(full)")
	require.Len(t, p.Retries, 8)
	assert.Equal(t, Spread{0, 50 * ms, 95*ms - 1, 100 * ms}, p.Retries[0].Wait)
	assert.Equal(t, Spread{0, 2500 * ms, 4750*ms - 1, 5 * s}, p.Retries[7].Wait)
	assert.Equal(t, 9, *p.Calls)
	assert.Equal(t, 16300*ms, p.Wait)
	assert.Equal(t, p.Retries[0].Wait, p.Retries[0].Total)
	assert.Equal(t, 16300*ms, p.Retries[7].Total.Greatest)
	assert.Zero(t, p.Retries[7].Total.Least)
	assert.False(t, p.More)
}

func TestWithoutJitterAllIsExact(t *testing.T) {
	p := of(t, "retries=40 backoff=linear(1s,1s)")
	require.Len(t, p.Retries, 12)
	assert.Equal(t, Spread{12 * s, 12 * s, 12 * s, 12 * s}, p.Retries[11].Wait)
	assert.Equal(t, Spread{78 * s, 78 * s, 78 * s, 78 * s}, p.Retries[11].Total)
	assert.True(t, p.More)
}

func TestCallsAreCountedWhereSomeFail(t *testing.T) {
	for text, want := range map[string][]Expectation{ // none, half and all of them
		"retries=0":                                     {{0, new(Number(1)), 1}, {0.5, new(Number(1)), 0.5}, {1, new(Number(1)), 0}},
		"retries=3":                                     {{0, new(Number(1)), 1}, {0.5, new(Number(1.875)), 0.9375}, {1, new(Number(4)), 0}},
		"retries=20 backoff=none":                       {{0, new(Number(1)), 1}, {0.5, new(Number(2 - 1./(1<<20))), 1 - 1./(1<<21)}, {1, new(Number(21)), 0}},
		"retries=unlimited":                             {{0, new(Number(1)), 1}, {0.5, new(Number(2)), 1}, {1, nil, 0}},
		"retries=unlimited max-elapsed=3500ms":          {{0, new(Number(1)), 1}, {0.5, new(Number(1.875)), 0.9375}, {1, new(Number(4)), 0}},
		"retries=unlimited max-elapsed=3s":              {{0, new(Number(1)), 1}, {0.5, new(Number(1.75)), 0.875}, {1, new(Number(3)), 0}},
		"retries=unlimited max-elapsed=48h":             {{0, new(Number(1)), 1}, {0.5, new(Number(2)), 1}, {1, nil, 0}},
		"retries=2 backoff=none max-elapsed=1ms":        {{0, new(Number(1)), 1}, {0.5, new(Number(1.75)), 0.875}, {1, new(Number(3)), 0}},
		"retries=3 backoff=constant(1h) max-elapsed=1s": {{0, new(Number(1)), 1}, {0.5, new(Number(1)), 0.5}, {1, new(Number(1)), 0}},
	} {
		got := of(t, text).Expected
		for i := range got {
			assert.InDelta(t, float64(want[i].Succeeds), float64(got[i].Succeeds), 1e-11, "%s %v", text, want[i].Failing)
			if want[i].Calls == nil || got[i].Calls == nil {
				assert.Equal(t, want[i].Calls, got[i].Calls, text)
				continue
			}
			assert.InDelta(t, float64(*want[i].Calls), float64(*got[i].Calls), 1e-11, "%s %v", text, want[i].Failing)
		}
	}
}

func TestMaxElapsedEndsThePlan(t *testing.T) {
	p := of(t, "retries=9 backoff=constant(1s) max-elapsed=3500ms")
	assert.Len(t, p.Retries, 3)
	assert.False(t, p.More)
	p = of(t, "retries=9 backoff=constant(2s).jitter(full) max-elapsed=3s")
	for i, r := range p.Retries {
		assert.LessOrEqual(t, r.Wait.Greatest, 3*s)
		assert.LessOrEqual(t, r.Total.Greatest, 3*s)
		assert.Equal(t, r.Reached < 1, i > 0, "the second can come too late")
	}
	assert.Empty(t, of(t, "retries=9 backoff=constant(1h) max-elapsed=1s").Retries)
	assert.True(t, of(t, "retries=unlimited backoff=constant(1s) max-elapsed=1h").More)
}

// policies draws the text of a policy.
func policies() *rapid.Generator[string] {
	curve := rapid.SampledFrom([]string{
		"none", "constant(1s)", "constant(50ms)", "linear(100ms,1s)", "exp(1ms,2)", "exp(3s,1.5)", "fibonacci(1s)", "decorrelated(100ms)",
		"list(1s,2s,5s)", "exp(10ms,2).then(4,constant(1m))", "constant(2h)",
	})
	more := rapid.SampledFrom([]string{"", "", ".cap(3h)", ".jitter(full)", ".jitter(equal)", ".jitter(20%)", ".cap(3h).jitter(full)"})
	words := func(all ...string) *rapid.Generator[string] { return rapid.SampledFrom(append(all, "")) }
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(strings.Fields(strings.Join([]string{
			words("retries=0", "retries=1", "retries=5", "retries=30", "retries=100000", "retries=unlimited").Draw(t, "retries"),
			"backoff=" + curve.Draw(t, "curve") + more.Draw(t, "more"),
			words("max-elapsed=20ms", "max-elapsed=5s", "max-elapsed=10m").Draw(t, "max-elapsed"),
			words("attempt-timeout=10ms", "attempt-timeout=1m").Draw(t, "attempt-timeout"),
			words("hints=ignore", "hints=clamp,10s").Draw(t, "hints"),
		}, " ")), " ")
	}).Filter(func(text string) bool { _, err := retry.Parse(text); return err == nil })
}

func TestEveryPlanIsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := of(t, policies().Draw(t, "policy"))
		before := Retry{Reached: 1}
		for _, r := range p.Retries {
			for _, s := range []Spread{r.Wait, r.Total} {
				assert.LessOrEqual(t, s.Least, s.Median)
				assert.LessOrEqual(t, s.Median, s.P95)
				assert.LessOrEqual(t, s.P95, s.Greatest)
				assert.LessOrEqual(t, s.Greatest, max(p.Wait, r.Wait.Greatest))
			}
			assert.Equal(t, before.Number+1, r.Number)
			assert.LessOrEqual(t, r.Reached, before.Reached)
			assert.LessOrEqual(t, before.Total.Greatest, r.Total.Greatest)
			before = r
		}
		for _, e := range p.Expected {
			assert.True(t, e.Succeeds >= -1e-9 && e.Succeeds <= 1, "%v", e)
			assert.True(t, e.Calls == nil || *e.Calls >= 1 && (p.Calls == nil || *e.Calls <= Number(*p.Calls)+1e-6), "%v", e)
		}
		_, err := json.Marshal(p)
		assert.NoError(t, err)
	})
}

// applied writes the first setting that a warning names into a policy.
func applied(policy, instead string) string {
	word := strings.TrimRight(regexp.MustCompile(`[a-z-]+=\S+`).FindString(instead), ",;")
	name, _, _ := strings.Cut(word, "=")
	words := strings.Fields(policy)
	for i := range words {
		if strings.HasPrefix(words[i], name+"=") {
			words[i] = word
			return strings.Join(words, " ")
		}
	}
	return policy + " " + word
}

func TestWhatAWarningSaysToWriteHelps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := of(t, policies().Draw(t, "policy"))
		for _, w := range p.Warnings {
			for _, left := range of(t, applied(p.Policy, w.Instead)).Warnings {
				assert.NotEqual(t, w.Name, left.Name, "%s: %s", p.Policy, w.Instead)
			}
		}
	})
}

func TestWhatIsDangerousIsWarnedOf(t *testing.T) {
	for text, want := range map[string][]string{
		"backoff=exp(1s,2).jitter(full) attempt-timeout=1s":                        {"no cap"},
		"backoff=constant(1s) attempt-timeout=1s":                                  {"no jitter"},
		"backoff=none attempt-timeout=1s":                                          {"no wait"},
		"retries=unlimited backoff=decorrelated(1s).cap(9s) attempt-timeout=1s":    {"no end"},
		"retries=999 backoff=decorrelated(1s).cap(9s) attempt-timeout=1s":          {"long"},
		"backoff=decorrelated(1s).cap(9s)":                                         {"no attempt-timeout"},
		"backoff=decorrelated(1s).cap(9s) attempt-timeout=1m max-elapsed=1m":       {"attempt-timeout"},
		"retries=99 backoff=list(9s).jitter(5%) attempt-timeout=9s max-elapsed=1m": {"never made"},
		"": {"no jitter", "no attempt-timeout"},
	} {
		var got []string
		for _, w := range of(t, text).Warnings {
			got = append(got, w.Name)
		}
		assert.Equal(t, want, got, text)
	}
}

func TestAGoodPolicyHasNoWarning(t *testing.T) {
	assert.Empty(t, of(t, "retries=5 backoff=exp(100ms,2).cap(5s).jitter(full) attempt-timeout=2s").Warnings)
	assert.Empty(t, of(t, "retries=0").Warnings)
}

func TestTheSameSeedGivesTheSamePlan(t *testing.T) {
	p := retry.New().Backoff(of(t, "backoff=decorrelated(1s)").strategy)
	other := usual
	other.Seed = 2
	first := Of(p, usual)
	assert.Equal(t, first.Retries, Of(p, usual).Retries)
	assert.NotEqual(t, first.Retries, Of(p, other).Retries)
}

func TestPartsAreRounded(t *testing.T) {
	for text, n := range map[string]Number{"0%": 0, "100%": 1, ">99.9%": 1 - 1e-9, "61.3%": 0.61258, "0.0012%": 0.000012} {
		assert.Equal(t, text, n.Percent())
	}
}

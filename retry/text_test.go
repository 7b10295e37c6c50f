package retry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
)

// texts draws policies that have text.
func texts() *rapid.Generator[retry.Policy] {
	return rapid.Custom(func(t *rapid.T) retry.Policy {
		d := func(name string) time.Duration { return time.Duration(rapid.Int64Min(1).Draw(t, name)) }
		p := retry.New()
		for _, refine := range []func(){
			func() { p = p.MaxRetries(rapid.OneOf(rapid.IntMin(0), rapid.Just(retry.Unlimited)).Draw(t, "retries")) },
			func() {
				p = p.Backoff(rapid.SampledFrom([]backoff.Strategy{
					{}, backoff.Constant(0), backoff.Constant(d("wait")), backoff.Exponential(d("first"), 1.5).FullJitter(),
					backoff.List(d("a"), d("b")).ProportionalJitter(rapid.Float64Range(0, 1).Draw(t, "fraction")).Then(2, backoff.Strategy{}),
				}).Draw(t, "strategy"))
			},
			func() { p = p.MaxElapsed(d("max elapsed")) },
			func() { p = p.AttemptTimeout(d("attempt timeout")) },
			func() {
				p = p.Hints(rapid.SampledFrom([]retry.HintMode{retry.HintRefuse, retry.HintClamp, retry.HintIgnore}).Draw(t, "mode"), d("hint"))
			},
			func() { p = p.WrapErrors() },
			func() { p = p.AttemptInfo() },
		} {
			if rapid.Bool().Draw(t, "given") {
				refine()
			}
		}
		return p
	})
}

func TestTheTextOfAPolicyReadsBackAsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := texts().Draw(t, "policy")
		text, err := p.MarshalText()
		require.NoError(t, err)
		require.Equal(t, p.String(), string(text))
		read, err := retry.Parse(string(text))
		require.NoError(t, err, "%s", text)
		require.Equal(t, p.String(), read.String())
		f := retry.Failure{
			Err: retry.After(time.Duration(rapid.Int64().Draw(t, "hint")), errBoom), Retries: rapid.Int().Draw(t, "retries"),
			Elapsed: time.Duration(rapid.Int64().Draw(t, "elapsed")), Draw: rapid.Uint64().Draw(t, "draw"),
		}
		require.Equal(t, p.Next(f), read.Next(f))
	})
}

func TestTheTextOfAPolicy(t *testing.T) {
	const s = time.Second
	full := retry.New().MaxRetries(5).Backoff(backoff.Exponential(100*time.Millisecond, 2).Cap(5*s).FullJitter()).
		MaxElapsed(time.Minute).AttemptTimeout(2*s).Hints(retry.HintClamp, 10*s)
	for text, p := range map[string]retry.Policy{
		"retries=3 backoff=constant(1s)":                                                                        {},
		"retries=3 backoff=none":                                                                                noWait,
		"retries=unlimited backoff=constant(1s)":                                                                retry.New().MaxRetries(retry.Unlimited),
		"retries=3 backoff=exp(100ms,2).cap(10s).jitter(full)":                                                  retry.Standard(),
		"retries=3 backoff=constant(1s) hints=ignore":                                                           retry.New().Hints(retry.HintIgnore, 0),
		"retries=3 backoff=constant(1s) hints=refuse,1h":                                                        retry.New().Hints(retry.HintRefuse, time.Hour),
		"retries=3 backoff=constant(1s) wrap-errors attempt-info":                                               retry.New().AttemptInfo().WrapErrors(),
		"retries=5 backoff=exp(100ms,2).cap(5s).jitter(full) max-elapsed=1m attempt-timeout=2s hints=clamp,10s": full,
	} {
		assert.Equal(t, text, p.String())
		read, err := retry.Parse(text)
		assert.NoError(t, err)
		assert.Equal(t, text, read.String())
		assert.Equal(t, text, p.LogValue().String())
	}
}

func TestWhatHasNoTextIsNamed(t *testing.T) {
	p := retry.New().On(retry.Is(errBoom)).Except(retry.Is(errOther)).If(func(error) bool { return true }).
		Events(func(context.Context, retry.Event) {}).Rand(func() uint64 { return 0 }).
		Backoff(backoff.Func(func(int) (lo, hi time.Duration) { return 0, 0 }))
	assert.Equal(t, "retries=3 backoff=func +Func +On +Except +If +Events +Rand", p.String())
	_, err := p.MarshalText()
	assert.EqualError(t, err, "retry: no text for Func, On, Except, If, Events, Rand: want it set in the program, after the text is read")
	_, err = retry.New().MaxRetries(-1).MarshalText()
	assert.EqualError(t, err, "retry: MaxRetries is -1: want 0 or more, or retry.Unlimited for no limit")
}

func TestOtherFormsOfAPolicyAreRead(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "retries=3 backoff=constant(1s)",
		"  \t\n ":                               "retries=3 backoff=constant(1s)",
		"calls=6":                               "retries=5 backoff=constant(1s)",
		"calls=1":                               "retries=0 backoff=constant(1s)",
		"calls=unlimited":                       "retries=unlimited backoff=constant(1s)",
		"max-elapsed=60s  retries=0":            "retries=0 backoff=constant(1s) max-elapsed=1m",
		"backoff=list(1s, 2s, 3s)\nwrap-errors": "retries=3 backoff=list(1s,2s,3s) wrap-errors",
		"backoff=list(1s,\t2s,\n3s)":            "retries=3 backoff=list(1s,2s,3s)",
	} {
		p, err := retry.Parse(text)
		assert.NoError(t, err, text)
		assert.Equal(t, want, p.String())
	}
}

func TestBadPoliciesSayWhereAndWhatIsWanted(t *testing.T) {
	words := "want retries=, calls=, backoff=, max-elapsed=, attempt-timeout=, hints=, wrap-errors or attempt-info"
	for text, want := range map[string]string{
		"retries":                           `column 1: "retries": ` + words,
		"5":                                 `column 1: "5": ` + words,
		"retry=5":                           `column 1: "retry" is no setting: ` + words,
		"=5":                                `column 1: "" is no setting: ` + words,
		"retries=":                          `column 9: retries is "": want a number of at least 0, or unlimited`,
		"retries=-1":                        `column 9: retries is "-1": want a number of at least 0, or unlimited`,
		"retries=many":                      `column 9: retries is "many": want a number of at least 0, or unlimited`,
		"retries=2.5":                       `column 9: retries is "2.5": want a number of at least 0, or unlimited`,
		"retries=99999999999999999999":      `column 9: retries is "99999999999999999999": want a number of at least 0, or unlimited`,
		"calls=0":                           `column 7: calls is "0": want a number of at least 1, or unlimited`,
		"retries=1 retries=2":               `column 11: retries is given a second time: want it once`,
		"retries=1 calls=2":                 `column 11: retries and calls are both given: want one of them`,
		"calls=1 retries=2":                 `column 9: retries and calls are both given: want one of them`,
		"max-elapsed=1":                     `column 13: max-elapsed is "1": want a duration such as 1.5s, 100ms or 2m`,
		"max-elapsed=0s":                    `column 13: MaxElapsed is 0s: want more than 0, or leave it out for no limit`,
		"attempt-timeout=-1s":               `column 17: AttemptTimeout is -1s: want more than 0, or leave it out for no limit`,
		"attempt-timeout=soon":              `column 17: attempt-timeout is "soon": want a duration such as 1.5s, 100ms or 2m`,
		"hints=clamp":                       `column 7: hints is "clamp": want refuse or clamp with a duration, such as clamp,10s, or ignore`,
		"hints=obey,1s":                     `column 7: hints is "obey,1s": want refuse or clamp with a duration, such as clamp,10s, or ignore`,
		"hints=ignore,1s":                   `column 7: hints is "ignore,1s": want refuse or clamp with a duration, such as clamp,10s, or ignore`,
		"hints=clamp,x":                     `column 13: hints is "x": want a duration such as 1.5s, 100ms or 2m`,
		"hints=refuse,0s":                   `column 7: Hints: the longest wait is 0s: want more than 0, or retry.HintIgnore to follow no hint`,
		"wrap-errors=true":                  `column 13: wrap-errors has the value "true": want the word alone`,
		"attempt-info attempt-info":         `column 14: attempt-info is given a second time: want it once`,
		"backoff=":                          `column 9: the text ends here: want none, constant, linear, exp, fibonacci, decorrelated or list`,
		"backoff=exp(1s)":                   `column 9: exp: the number of values is 1: want 2, the first wait and the factor`,
		"retries=1 backoff=exp(1s,2).max":   `column 29: "max" is no setting: want cap, floor, jitter or then`,
		"backoff=exp(1s,0.5).cap(-1s)":      "column 9: Exponential: the factor is 0.5: want a finite number of at least 1\ncolumn 21: Cap is -1s: want 0 or more",
		"backoff=constant(1µs).max(2s) x=1": "column 23: \"max\" is no setting: want cap, floor, jitter or then\ncolumn 31: \"x\" is no setting: " + words,
		"backoff=constant(1s,":              `column 21: the text ends here: want a comma or a closing parenthesis`,
		"retries=x max-elapsed=y größe ö=1": "column 9: retries is \"x\": want a number of at least 0, or unlimited\ncolumn 23: max-elapsed is \"y\": want a duration such as 1.5s, 100ms or 2m\ncolumn 25: \"größe\": " + words + "\ncolumn 31: \"ö\" is no setting: " + words,
	} {
		_, err := retry.Parse(text)
		assert.EqualError(t, err, "retry: "+strings.ReplaceAll(want, "\n", "\nretry: "), text)
	}
}

func TestAPolicyGoesThroughFlagAndJSON(t *testing.T) {
	f := flag.NewFlagSet("test", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	var p retry.Policy
	f.TextVar(&p, "retry", retry.Standard(), "the policy")
	assert.Equal(t, "retries=3 backoff=exp(100ms,2).cap(10s).jitter(full)", f.Lookup("retry").DefValue)
	assert.NoError(t, f.Parse([]string{"-retry", "retries=7 backoff=none"}))
	assert.Equal(t, "retries=7 backoff=none", p.String())
	assert.ErrorContains(t, f.Parse([]string{"-retry", "retries=7 backoff=soon"}), "retry: column 19:")
	assert.Equal(t, "retries=7 backoff=none", p.String(), "a bad text changes nothing")

	config := struct{ Retry retry.Policy }{retry.New().WrapErrors()}
	require.NoError(t, json.Unmarshal([]byte(`{"Retry":"calls=2"}`), &config))
	out, err := json.Marshal(config)
	require.NoError(t, err)
	assert.JSONEq(t, `{"Retry":"retries=1 backoff=constant(1s)"}`, string(out), "the text replaces the policy whole")
	assert.Error(t, json.Unmarshal([]byte(`{"Retry":"soon"}`), &config))
}

func TestAHostilePolicyIsSoonRefused(t *testing.T) {
	_, err := retry.Parse(strings.Repeat("ö ", 100_000))
	assert.ErrorContains(t, err, "retry: column 199999: ")
	_, err = retry.Parse("backoff=" + strings.Repeat("none.then(1,", 100_000))
	assert.ErrorContains(t, err, "too many parts")
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "retries=5 backoff=exp(100ms,2).cap(5s).jitter(full) max-elapsed=1m attempt-timeout=2s hints=clamp,10s", "calls=unlimited",
		"hints=ignore wrap-errors attempt-info", "backoff=list(1s, 2s)", "backoff=none.then(1,(", "retries=\xff", "größe=1 =",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := retry.Parse(text)
		if err != nil {
			return
		}
		again, err := retry.Parse(p.String())
		if p.Err() != nil || err != nil || again.String() != p.String() {
			t.Fatalf("%q reads as %v (%v), and that as %v (%v)", text, p, p.Err(), again, err)
		}
	})
}

func TestLogSaysWhatHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		handler := slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})
		p := retry.New().MaxRetries(1).Events(retry.Log(slog.New(handler)))
		_ = retry.Run(t.Context(), p, func(context.Context) error { return errBoom })
		assert.Equal(t, `level=DEBUG msg="retry: started" call=1 elapsed=0s
level=DEBUG msg="retry: failed" call=1 elapsed=0s error=boom
level=INFO msg="retry: scheduled" call=1 elapsed=0s error=boom delay=1s source=backoff
level=DEBUG msg="retry: started" call=2 elapsed=1s
level=DEBUG msg="retry: failed" call=2 elapsed=1s error=boom
level=WARN msg="retry: finished" call=2 elapsed=1s error=boom reason=exhausted
`, out.String())

		out.Reset()
		p = p.Events(nil)
		assert.EqualError(t, p.Err(), "retry: Events has a nil hook: want a function, or leave Events out")
		quiet := slog.New(slog.NewTextHandler(&out, nil))
		_ = retry.Run(t.Context(), retry.New().Events(retry.Log(quiet)), func(context.Context) error { return nil })
		assert.Empty(t, out.String(), "a success at once is not worth a line")
		n := 0
		_ = retry.Run(t.Context(), noWait.Events(retry.Log(quiet)), func(context.Context) error {
			if n++; n == 1 {
				return errBoom
			}
			return nil
		})
		assert.Equal(t, 2, strings.Count(out.String(), "level=INFO"))
		out.Reset()
		var err error
		for range retry.Attempts(t.Context(), noWait.Events(retry.Log(quiet)), &err) {
			break
		}
		assert.Contains(t, out.String(), "level=INFO", "a loop that was left is no failure")
		assert.Error(t, retry.New().Events(retry.Log(nil)).Err())
	})
}

package backoff_test

import (
	"encoding/json"
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
)

// hasFunc reports whether the model has a part without text.
func (m model) hasFunc() bool {
	return m.curve == "func" || m.curve == "then" && (m.head.hasFunc() || m.tail.hasFunc())
}

func TestTextReadsBackAsTheSameStrategy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := models(3).Draw(t, "model")
		s := m.build()
		text, err := s.MarshalText()
		if m.hasFunc() {
			require.EqualError(t, err, "backoff: a Func has no text: want another curve, or to set it in the program")
			require.Contains(t, s.String(), "func")
			return
		}
		require.NoError(t, err)
		read, err := backoff.Parse(string(text))
		require.NoError(t, err, "%s", text)
		require.Equal(t, string(text), read.String())
		alike(t, s, read)
	})
}

func TestTheTextOfAStrategy(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for text, strategy := range map[string]backoff.Strategy{
		"none":                                     {},
		"none.cap(1s)":                             backoff.Strategy{}.Cap(s),
		"constant(0s)":                             backoff.Constant(0),
		"constant(1m)":                             backoff.Constant(time.Minute),
		"constant(1h)":                             backoff.Constant(time.Hour),
		"constant(1h0m1s)":                         backoff.Constant(time.Hour + s),
		"constant(10m)":                            backoff.Constant(10 * time.Minute),
		"constant(2562047h47m16.854775807s)":       backoff.Constant(longest),
		"linear(1s,500ms)":                         backoff.Linear(s, 500*ms),
		"exp(100ms,2).cap(5s).jitter(full)":        backoff.Exponential(100*ms, 2).FullJitter().Cap(5 * s),
		"exp(1ns,1.0000000000000002)":              backoff.Exponential(1, 1+1.0/(1<<52)),
		"exp(1ns,1e+300)":                          backoff.Exponential(1, 1e300),
		"fibonacci(1s).floor(2s).jitter(equal)":    backoff.Fibonacci(s).EqualJitter().Floor(2 * s),
		"decorrelated(1s).cap(10s)":                backoff.Decorrelated(s).Cap(10 * s),
		"list(1s,2s,5s)":                           backoff.List(s, 2*s, 5*s),
		"constant(1s).jitter(20%)":                 backoff.Constant(s).ProportionalJitter(0.2),
		"constant(1s).jitter(100%)":                backoff.Constant(s).ProportionalJitter(1),
		"constant(1s).jitter(0%)":                  backoff.Constant(s).ProportionalJitter(0),
		"constant(1s).jitter(12.5%)":               backoff.Constant(s).ProportionalJitter(0.125),
		"constant(1s).jitter(0.1%)":                backoff.Constant(s).ProportionalJitter(0.001),
		"constant(1s).jitter(0.00001%)":            backoff.Constant(s).ProportionalJitter(1e-7),
		"constant(1s).jitter(0.0000001%)":          backoff.Constant(s).ProportionalJitter(1e-9),
		"constant(1s).jitter(1e-8%)":               backoff.Constant(s).ProportionalJitter(1e-10),
		"constant(1s).jitter(1.5e-8%)":             backoff.Constant(s).ProportionalJitter(1.5e-10),
		"constant(1µs)":                            backoff.Constant(time.Microsecond),
		"constant(1s).jitter(5e-322%)":             backoff.Constant(s).ProportionalJitter(5e-324),
		"constant(1s).jitter(30.000000000000004%)": backoff.Constant(s).ProportionalJitter(0.30000000000000004),
		"constant(1s).jitter(+50ms)":               backoff.Constant(s).AdditiveJitter(50 * ms),
		"constant(1s).jitter(spring,100ms)":        backoff.Constant(s).SpringJitter(100 * ms),
		"exp(10ms,2).then(4,constant(1m))":         backoff.Exponential(10*ms, 2).Then(4, backoff.Constant(time.Minute)),
		"exp(1s,2).cap(9s).then(4,none).cap(8s)":   backoff.Exponential(s, 2).Cap(9*s).Then(4, backoff.Strategy{}).Cap(8 * s),
	} {
		assert.Equal(t, text, strategy.String())
		read, err := backoff.Parse(text)
		assert.NoError(t, err)
		assert.Equal(t, text, read.String())
	}
}

func TestStringAlwaysAnswers(t *testing.T) {
	for text, s := range map[string]backoff.Strategy{
		"func.cap(1s)":                          backoff.Func(nil).Cap(time.Second),
		"none.then(1,func)":                     backoff.Strategy{}.Then(1, backoff.Func(nil)),
		"exp(-1s,NaN).cap(-1s).floor(-1s)":      backoff.Exponential(-time.Second, nan()).Floor(-time.Second).Cap(-time.Second),
		"list()":                                backoff.List(),
		"constant(1s).jitter(NaN%)":             backoff.Constant(time.Second).ProportionalJitter(nan()),
		"constant(1s).jitter(full).jitter(-5%)": backoff.Constant(time.Second).FullJitter().ProportionalJitter(-0.05),
	} {
		assert.Equal(t, text, s.String())
		_, err := s.MarshalText()
		assert.Error(t, err)
	}
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

func TestTextsWithSpacesAndOtherFormsAreRead(t *testing.T) {
	for text, want := range map[string]string{
		" exp( 100ms , 2 ) . cap( 5s ) ":     "exp(100ms,2).cap(5s)",
		"list( 1s, 2s )":                     "list(1s,2s)",
		"constant(60s)":                      "constant(1m)",
		"constant(0)":                        "constant(0s)",
		"exp(1s,2.50)":                       "exp(1s,2.5)",
		"constant(1s).jitter(2e1%)":          "constant(1s).jitter(20%)",
		"none.then( 4 , constant(1s) )":      "none.then(4,constant(1s))",
		"constant(1s).jitter( spring , 1s )": "constant(1s).jitter(spring,1s)",
	} {
		s, err := backoff.Parse(text)
		assert.NoError(t, err, text)
		assert.Equal(t, want, s.String())
	}
}

func TestBadTextsSayWhereAndWhatIsWanted(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     `column 1: the text ends here: want none, constant, linear, exp, fibonacci, decorrelated or list`,
		"   ":                                  `column 4: the text ends here: want none, constant, linear, exp, fibonacci, decorrelated or list`,
		"5s":                                   `column 1: "5s": want none, constant, linear, exp, fibonacci, decorrelated or list`,
		"expo(1s,2)":                           `column 1: "expo" is no curve: want none, constant, linear, exp, fibonacci, decorrelated or list`,
		"Exp(1s,2)":                            `column 1: "Exp(1s,2)": want none, constant, linear, exp, fibonacci, decorrelated or list`,
		"func":                                 `column 1: a func has no text: want another curve`,
		"none(1s)":                             `column 5: "(1s)": want a setting such as .cap(5s), or the end`,
		"constant":                             `column 9: the text ends here: want (the wait)`,
		"constant 1s":                          `column 10: "1s": want (the wait)`,
		"constant(1s":                          `column 12: the text ends here: want a comma or a closing parenthesis`,
		"constant(1s,2s)":                      `column 1: constant: the number of values is 2: want 1, the wait`,
		"constant()":                           `column 10: "" is no duration: want one such as 1.5s, 100ms or 2m`,
		"constant(5)":                          `column 10: "5" is no duration: want one such as 1.5s, 100ms or 2m`,
		"constant(five)":                       `column 10: "five" is no duration: want one such as 1.5s, 100ms or 2m`,
		"constant(9999999h)":                   `column 10: "9999999h" is no duration: want one such as 1.5s, 100ms or 2m`,
		"exp(1s)":                              `column 1: exp: the number of values is 1: want 2, the first wait and the factor`,
		"exp(1s,two)":                          `column 8: "two" is no factor: want a number such as 2 or 1.5`,
		"exp(1s,1e999)":                        `column 8: "1e999" is no factor: want a number such as 2 or 1.5`,
		"exp(1s,0.5)":                          `column 1: Exponential: the factor is 0.5: want a finite number of at least 1`,
		"exp(1s,nan)":                          `column 8: "nan" is no factor: want a number such as 2 or 1.5`,
		"list()":                               `column 6: "" is no duration: want one such as 1.5s, 100ms or 2m`,
		"list(1s,,2s)":                         `column 9: "" is no duration: want one such as 1.5s, 100ms or 2m`,
		"list(1s,-1s)":                         `column 1: List: wait 2 is -1s: want 0 or more`,
		"exp(1s,2).":                           `column 11: the text ends here: want cap, floor, jitter or then`,
		"exp(1s,2).max(5s)":                    `column 11: "max" is no setting: want cap, floor, jitter or then`,
		"exp(1s,2).cap":                        `column 14: the text ends here: want (a duration)`,
		"exp(1s,2).cap(5s)x":                   `column 18: "x": want a setting such as .cap(5s), or the end`,
		"exp(1s,2).cap(1ms)":                   `column 11: Cap is 1ms, below the first wait of Exponential, 1s: want a cap of at least that, or a shorter first wait`,
		"exp(1s,2).cap(5s).floor(9s)":          `column 19: Floor is 9s, above the cap of 5s: want a floor of at most that`,
		"exp(1s,2).jitter":                     `column 17: the text ends here: want (full, equal, 20%, +50ms or spring,100ms)`,
		"exp(1s,2).jitter(half)":               `column 18: "half" is no jitter: want full, equal, 20%, +50ms or spring,100ms`,
		"exp(1s,2).jitter(20)":                 `column 18: "20" is no jitter: want full, equal, 20%, +50ms or spring,100ms`,
		"exp(1s,2).jitter(x%)":                 `column 18: "x%" is no percentage: want one such as 20%`,
		"exp(1s,2).jitter(1ex%)":               `column 18: "1ex%" is no percentage: want one such as 20%`,
		"exp(1s,2).jitter(150%)":               `column 11: ProportionalJitter: the fraction is 1.5: want 0 to 1`,
		"exp(1s,0x1p1)":                        `column 8: "0x1p1" is no factor: want a number such as 2 or 1.5`,
		"exp(1s,2).jitter(2e%)":                `column 18: "2e%" is no percentage: want one such as 20%`,
		"exp(1s,2).jitter(++1s)":               `column 18: "++1s" is no jitter: want full, equal, 20%, +50ms or spring,100ms`,
		"constant(1µs).max(1s)":                `column 15: "max" is no setting: want cap, floor, jitter or then`,
		"exp(1s,2)!abcdefghijklmnopqrstuvwxyz": `column 10: "!abcdefghijklmnopqrs…": want a setting such as .cap(5s), or the end`,
		"exp(1s,2).jitter(+x)":                 `column 19: "x" is no duration: want one such as 1.5s, 100ms or 2m`,
		"exp(1s,2).jitter(full,1s)":            `column 23: "1s": want one argument, or spring and a duration`,
		"exp(1s,2).jitter(spring)":             `column 18: "spring" is no jitter: want full, equal, 20%, +50ms or spring,100ms`,
		"exp(1s,2).jitter(full).jitter(20%)":   `column 24: Exponential has FullJitter and ProportionalJitter: want one jitter`,
		"decorrelated(1s).jitter(full)":        `column 18: Decorrelated has FullJitter: want no jitter, for it is a window already`,
		"none.then":                            `column 10: the text ends here: want (waits,strategy)`,
		"none.then(x,none)":                    `column 11: "x" is no number of waits: want one such as 4`,
		"none.then(-1,none)":                   `column 6: Then comes after -1 waits: want 0 or more`,
		"none.then(4)":                         `column 12: ")": want a comma and the strategy that follows`,
		"none.then(4,none":                     `column 17: the text ends here: want a closing parenthesis`,
		"none.then(4,exp(1s,0.5))":             `column 13: Exponential: the factor is 0.5: want a finite number of at least 1`,
		"none.then(4,expo)":                    `column 13: "expo" is no curve: want none, constant, linear, exp, fibonacci, decorrelated or list`,
		"größe(1s)":                            `column 1: "gr" is no curve: want none, constant, linear, exp, fibonacci, decorrelated or list`,
		"list(ä,1s).cap(ö)":                    `column 6: "ä" is no duration: want one such as 1.5s, 100ms or 2m`,
		"exp(-1s,0.5).cap(-1s).floor(x)": "column 1: Exponential: the first wait is -1s: want 0 or more\n" +
			"column 1: Exponential: the factor is 0.5: want a finite number of at least 1\n" +
			"column 14: Cap is -1s: want 0 or more\n" +
			`column 29: "x" is no duration: want one such as 1.5s, 100ms or 2m`,
	} {
		_, err := backoff.Parse(text)
		assert.EqualError(t, err, "backoff: "+strings.ReplaceAll(want, "\n", "\nbackoff: "), text)
	}
}

func TestAStrategyGoesThroughFlagAndJSON(t *testing.T) {
	f := flag.NewFlagSet("test", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	var s backoff.Strategy
	f.TextVar(&s, "backoff", backoff.Constant(time.Second), "the waits")
	assert.Equal(t, "constant(1s)", f.Lookup("backoff").DefValue)
	assert.NoError(t, f.Parse([]string{"-backoff", "exp(100ms,2).jitter(full)"}))
	assert.Equal(t, "exp(100ms,2).jitter(full)", s.String())
	assert.ErrorContains(t, f.Parse([]string{"-backoff", "exp(100ms)"}), "column 1: exp: the number of values is 1")
	assert.Equal(t, "exp(100ms,2).jitter(full)", s.String(), "a bad text changes nothing")

	var config struct{ Wait backoff.Strategy }
	require.NoError(t, json.Unmarshal([]byte(`{"Wait":"list(1s,2s)"}`), &config))
	out, err := json.Marshal(config)
	require.NoError(t, err)
	assert.JSONEq(t, `{"Wait":"list(1s,2s)"}`, string(out))
	assert.Error(t, json.Unmarshal([]byte(`{"Wait":"soon"}`), &config))
}

// A text from outside takes no longer than in proportion, however it is made.
func TestHostileTextsAreSoonRefused(t *testing.T) {
	for want, text := range map[string]string{
		"too many parts: want at most 1000":     strings.Repeat("none.then(1,", 1_000_000),
		"column 13011: too many parts":          "none" + strings.Repeat(".then(1,none)", 100_000),
		"no more is read after 10 faults":       "constant(1s)" + strings.Repeat(".then(1,constant(1s)).jitter(full)", 900),
		"FullJitter: want one jitter":           "none" + strings.Repeat(".jitter(full)", 20_000),
		"List: wait 20000 is -1s":               "list(" + strings.Repeat("-1s,", 20_000) + "1s)" + strings.Repeat(".cap(1h)", 1000),
		"is no curve":                           strings.Repeat("x", 1_000_000),
		"want a comma or a closing parenthesis": "list(" + strings.Repeat("1s,", 100_000),
	} {
		_, err := backoff.Parse(text)
		assert.ErrorContains(t, err, want)
	}
}

// FuzzParse tries that every text is read or refused, and what is read has a text
// that reads back as the same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "none", "exp(100ms,2).cap(5s).jitter(full)", "list(1s, 2s,5s)", "constant(1s).jitter(20%).floor(1ms)",
		"none.then(4,exp(1s,1e300).jitter(+1ns)).cap(1h)", "decorrelated(1s).jitter(spring,1s)", "exp(\xff", "größe(1s)",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := backoff.Parse(text)
		if err != nil {
			return
		}
		if s.Err() != nil {
			t.Fatalf("%q was read with a fault: %v", text, s.Err())
		}
		again, err := backoff.Parse(s.String())
		if err != nil || again.String() != s.String() {
			t.Fatalf("%q reads as %v, and that as %v (%v)", text, s, again, err)
		}
		for _, n := range []int{1, 2, 1000} {
			if s.Delay(n, 1, 1<<63) != again.Delay(n, 1, 1<<63) {
				t.Fatalf("%q: %v and %v differ", text, s, again)
			}
		}
	})
}

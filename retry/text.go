package retry

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/dacapo-go/dacapo/backoff"
)

// String returns the policy as text that [Parse] reads, such as
//
//	retries=5 backoff=exp(100ms,2).cap(5s).jitter(full) max-elapsed=1m attempt-timeout=2s hints=clamp,10s
//
// What has no text (On, Except, If, Events, Rand, Limit, a Func) is named with a plus at
// the end, and Parse does not read it.
func (p Policy) String() string {
	words := []string{"retries=" + retries(p.maxRetries()), "backoff=" + p.backoffText()}
	if p.more != nil {
		words = append(words, p.more.words()...)
	}
	for _, name := range p.textless() {
		words = append(words, "+"+name)
	}
	return strings.Join(words, " ")
}

// MarshalText returns the text of String. A policy with a fault, or with a
// setting that has no text, has none: that is an error. (As the default of
// [flag.TextVar] it then shows no text.)
func (p Policy) MarshalText() ([]byte, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	if names := p.textless(); names != nil {
		return nil, fmt.Errorf("retry: no text for %s: want it set in the program, after the text is read", strings.Join(names, ", "))
	}
	return []byte(p.String()), nil
}

// UnmarshalText sets the whole policy to what [Parse] reads, and leaves it as it
// is where that is an error. What the text does not say is as in [New], also
// where the policy had it otherwise: give On, Except, If, Events and Limit afterwards.
func (p *Policy) UnmarshalText(text []byte) error {
	read, err := Parse(string(text))
	if err == nil {
		*p = read
	}
	return err
}

// LogValue returns the text of String.
func (p Policy) LogValue() slog.Value { return slog.StringValue(p.String()) }

func retries(n int) string {
	if n == Unlimited {
		return "unlimited"
	}
	return strconv.Itoa(n)
}

func (p *Policy) backoffText() string {
	if p.backoff == noWait {
		return backoff.Strategy{}.String()
	}
	return p.strategy().String()
}

// words returns the text of the rare settings.
func (s *settings) words() (words []string) {
	add := func(set setting, text string) {
		if s.set&set != 0 {
			words = append(words, text)
		}
	}
	add(setMaxElapsed, "max-elapsed="+short(s.maxElapsed))
	add(setAttemptTimeout, "attempt-timeout="+short(s.attemptTimeout))
	if s.hintMode == HintIgnore {
		add(setHints, "hints="+s.hintMode.String())
	} else {
		add(setHints, "hints="+s.hintMode.String()+","+short(s.hintMax))
	}
	add(setWrapErrors, "wrap-errors")
	add(setAttemptInfo, "attempt-info")
	return words
}

// short returns d without the zeros at its end: 1m, not 1m0s.
func short(d time.Duration) string {
	text := backoff.Constant(d).String()
	return strings.TrimSuffix(strings.TrimPrefix(text, "constant("), ")")
}

// String returns the mode as a word.
func (m HintMode) String() string { return word(m, "HintMode", "refuse", "clamp", "ignore") }

// textless names the settings that have no text.
func (p *Policy) textless() (names []string) {
	if _, err := p.backoff.MarshalText(); err != nil && p.backoff.Err() == nil {
		names = append(names, "Func")
	}
	if p.more == nil {
		return names
	}
	for _, s := range []struct {
		name  string
		given bool
	}{
		{"On", p.more.on != nil}, {"Except", p.more.except != nil}, {"If", p.more.ifs != nil},
		{"Events", p.more.events != nil}, {"Rand", p.has(setRand)}, {"Limit", p.limits()},
	} {
		if s.given {
			names = append(names, s.name)
		}
	}
	return names
}

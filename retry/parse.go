package retry

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dacapo-go/dacapo/backoff"
)

// ParseError is one thing that [Parse] could not read, or a fault of what it read.
type ParseError struct {
	Column  int    // where it begins, in characters from 1
	Problem string // what is wrong, and what is wanted
}

// Error returns the column and the problem in one line.
func (e *ParseError) Error() string {
	return fmt.Sprintf("retry: column %d: %s", e.Column, e.Problem)
}

// Parse reads a policy from text, as String writes it: words with spaces between
// them, each at most once and in any order.
//
//	retries=5           or calls=6, or retries=unlimited
//	backoff=…           as backoff.Parse reads it
//	max-elapsed=1m      attempt-timeout=2s
//	hints=clamp,10s     or hints=refuse,10s, or hints=ignore
//	wrap-errors         attempt-info
//
// What is left out is as in [New]; an empty text is New. The error joins a
// [*ParseError] for each fault in the text, in the order of their columns.
func Parse(text string) (Policy, error) {
	p := parser{text: text, given: map[string]bool{}}
	for from := 0; from < len(text); {
		to := from + wordLength(text[from:])
		if to > from {
			p.word(from, text[from:to])
		}
		from = to + 1
	}
	if err := errors.Join(p.errs...); err != nil {
		return Policy{}, err
	}
	return p.policy, nil
}

// wordLength returns how long the word is that text begins with: up to a space
// that is not in parentheses.
func wordLength(text string) int {
	depth := 0
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth <= 0 && strings.ContainsRune(" \t\r\n", c):
			return i
		}
	}
	return len(text)
}

type parser struct {
	text   string
	policy Policy
	given  map[string]bool
	errs   []error
	faults []string // what Err said, as far as it is reported

	counted, characters int // bytes whose characters were counted, and those
}

// report notes a problem at a byte of the text.
func (p *parser) report(at int, format string, args ...any) {
	p.errs = append(p.errs, &ParseError{p.before(at) + 1, fmt.Sprintf(format, args...)})
}

// before returns how many characters there are before a byte. It counts on from
// where it last was.
func (p *parser) before(at int) int {
	if at < p.counted {
		return utf8.RuneCountInString(p.text[:at])
	}
	p.characters += utf8.RuneCountInString(p.text[p.counted:at])
	p.counted = at
	return p.characters
}

const wantWord = "retries=, calls=, backoff=, max-elapsed=, attempt-timeout=, hints=, wrap-errors or attempt-info"

// word reads one word, which begins at a byte of the text.
func (p *parser) word(at int, word string) {
	key, value, hasValue := strings.Cut(word, "=")
	valueAt := at + len(key) + 1
	if !hasValue {
		valueAt = at
	}
	switch isFlag := key == "wrap-errors" || key == "attempt-info"; {
	case p.given[key]:
		p.report(at, "%s is given a second time: want it once", key)
		return
	case key == "calls" && p.given["retries"], key == "retries" && p.given["calls"]:
		p.report(at, "retries and calls are both given: want one of them")
		return
	case isFlag && hasValue:
		p.report(valueAt, "%s has the value %q: want the word alone", key, value)
		return
	case !isFlag && !hasValue:
		p.report(at, "%q: want %s", word, wantWord)
		return
	}
	p.given[key] = true
	p.set(at, key, valueAt, value)
	p.judge(valueAt)
}

func (p *parser) set(at int, key string, valueAt int, value string) {
	switch key {
	case "retries":
		p.count(valueAt, value, "retries", 0)
	case "calls":
		p.count(valueAt, value, "calls", 1)
	case "backoff":
		p.backoff(valueAt, value)
	case "max-elapsed":
		p.policy = p.policy.MaxElapsed(p.duration(key, valueAt, value))
	case "attempt-timeout":
		p.policy = p.policy.AttemptTimeout(p.duration(key, valueAt, value))
	case "hints":
		p.hints(valueAt, value)
	case "wrap-errors":
		p.policy = p.policy.WrapErrors()
	case "attempt-info":
		p.policy = p.policy.AttemptInfo()
	default:
		p.report(at, "%q is no setting: want %s", key, wantWord)
	}
}

// count reads a number of calls, of which so many are no retries.
func (p *parser) count(at int, value, what string, first int) {
	if value == "unlimited" {
		p.policy = p.policy.MaxRetries(Unlimited)
		return
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < first {
		p.report(at, "%s is %q: want a number of at least %d, or unlimited", what, value, first)
		return
	}
	p.policy = p.policy.MaxRetries(n - first)
}

// backoff reads a strategy, and reports its faults where they stand in this text.
func (p *parser) backoff(at int, value string) {
	s, err := backoff.Parse(value)
	p.policy = p.policy.Backoff(s)
	if err == nil {
		return
	}
	column := p.before(at)
	for _, err := range err.(interface{ Unwrap() []error }).Unwrap() {
		if e, ok := errors.AsType[*backoff.ParseError](err); ok {
			p.errs = append(p.errs, &ParseError{column + e.Column, e.Problem})
		}
	}
}

// duration reads a duration. Where it cannot, it returns one that is no fault.
func (p *parser) duration(key string, at int, value string) time.Duration {
	d, err := time.ParseDuration(value)
	if err != nil {
		p.report(at, "%s is %q: want a duration such as 1.5s, 100ms or 2m", key, value)
		return 1
	}
	return d
}

func (p *parser) hints(at int, value string) {
	word, limit, limited := strings.Cut(value, ",")
	for _, mode := range []HintMode{HintRefuse, HintClamp} {
		if word == mode.String() && limited {
			p.policy = p.policy.Hints(mode, p.duration("hints", at+len(word)+1, limit))
			return
		}
	}
	if value != HintIgnore.String() {
		p.report(at, "hints is %q: want refuse or clamp with a duration, such as clamp,10s, or ignore", value)
		return
	}
	p.policy = p.policy.Hints(HintIgnore, defaultHint)
}

// judge reports the faults of the policy that were not reported before.
func (p *parser) judge(at int) {
	err := p.policy.Err()
	if err == nil {
		return
	}
	for fault := range strings.SplitSeq(err.Error(), "\n") {
		if !slices.Contains(p.faults, fault) {
			p.faults = append(p.faults, fault)
			p.report(at, "%s", strings.TrimPrefix(fault, "retry: "))
		}
	}
}

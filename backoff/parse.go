package backoff

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseError is one thing that [Parse] could not read, or a fault of what it read.
type ParseError struct {
	Column  int    // where it begins, in characters from 1
	Problem string // what is wrong, and what is wanted
}

// Error returns the column and the problem in one line.
func (e *ParseError) Error() string {
	return fmt.Sprintf("backoff: column %d: %s", e.Column, e.Problem)
}

// Parse reads a strategy from text, as String writes it:
//
//	none                     no wait
//	constant(1s)             linear(1s,500ms)        exp(100ms,2)
//	fibonacci(1s)            decorrelated(1s)        list(1s,2s,5s)
//
// followed by any of
//
//	.cap(5s)  .floor(10ms)  .then(4,constant(1m))
//	.jitter(full)  .jitter(equal)  .jitter(20%)  .jitter(+50ms)  .jitter(spring,100ms)
//
// Durations are as [time.ParseDuration] reads them. Spaces around arguments are
// skipped. What comes before then is its first part; what comes after it is a
// setting of the whole.
//
// The error joins a [*ParseError] for each fault, in the order of their columns:
// for each setting that Err finds fault with, and for the first place that is
// not in this form. Reading ends after 10 settings with a fault, and 1000 joined
// parts are the most.
func Parse(text string) (Strategy, error) {
	p := parser{text: text, faults: map[string]bool{}}
	s := p.strategy()
	if !p.failed {
		if p.space(); p.at < len(text) {
			p.unexpected("a setting such as .cap(5s), or the end")
		}
	}
	if err := errors.Join(p.errs...); err != nil {
		return Strategy{}, err
	}
	return s, nil
}

// strategy reads a curve and its settings.
func (p *parser) strategy() Strategy {
	name := p.word()
	s := p.curve(name)
	if p.failed {
		return s
	}
	p.judge(name.at, s)
	for !p.failed && p.accept('.') {
		name := p.word()
		if s = p.setting(s, name); !p.failed {
			p.judge(name.at, s)
		}
	}
	return s
}

// judge reports the faults of s that were not reported before.
func (p *parser) judge(at int, s Strategy) {
	err := s.Err()
	if err == nil {
		return
	}
	if p.judged++; p.judged > mostFaults {
		p.fail(at, "no more is read after %d faults", mostFaults)
		return
	}
	for fault := range strings.SplitSeq(err.Error(), "\n") {
		if !p.faults[fault] {
			p.faults[fault] = true
			p.report(at, "%s", strings.TrimPrefix(fault, "backoff: "))
		}
	}
}

// curve reads the arguments of the named curve.
func (p *parser) curve(name argument) Strategy {
	switch curve, known := curveWords[name.text]; {
	case name.text == "":
		p.unexpected(wantCurve)
	case !known:
		p.fail(name.at, "%q is no curve: want %s", name.text, wantCurve)
	case curve == none:
		return Strategy{}
	case curve == function:
		p.fail(name.at, "a func has no text: want another curve")
	case curve == list:
		return p.list()
	default:
		return p.numbers(name, curve)
	}
	return Strategy{}
}

const wantCurve = "none, constant, linear, exp, fibonacci, decorrelated or list"

func (p *parser) list() Strategy {
	args := p.arguments("the waits")
	waits := make([]time.Duration, len(args))
	for i, a := range args {
		waits[i] = p.duration(a)
	}
	if p.failed {
		return Strategy{}
	}
	return List(waits...)
}

// numbers reads the curves that are made from one or two numbers.
func (p *parser) numbers(name argument, c curve) Strategy {
	want := map[curve][]string{
		constant: {"the wait"}, linear: {"the first wait", "the step"}, exponential: {"the first wait", "the factor"},
		fibonacci: {"the first wait"}, decorrelated: {"the first wait"},
	}[c]
	args := p.exactly(name, want...)
	if p.failed {
		return Strategy{}
	}
	first := p.duration(args[0])
	switch c {
	case constant:
		return Constant(first)
	case linear:
		return Linear(first, p.duration(args[1]))
	case exponential:
		return Exponential(first, p.factor(args[1]))
	case fibonacci:
		return Fibonacci(first)
	default:
		return Decorrelated(first)
	}
}

// setting reads the named setting of s.
func (p *parser) setting(s Strategy, name argument) Strategy {
	switch name.text {
	case "cap", "floor":
		args := p.exactly(name, "a duration")
		if p.failed {
			return s
		}
		d := p.duration(args[0])
		if name.text == "cap" {
			return s.Cap(d)
		}
		return s.Floor(d)
	case "jitter":
		return p.jitter(s)
	case "then":
		return p.then(s)
	case "":
		p.unexpected(wantSetting)
	default:
		p.fail(name.at, "%q is no setting: want %s", name.text, wantSetting)
	}
	return s
}

const wantSetting = "cap, floor, jitter or then"

func (p *parser) jitter(s Strategy) Strategy {
	args := p.arguments("full, equal, 20%, +50ms or spring,100ms")
	if p.failed {
		return s
	}
	word, at := args[0].text, args[0].at
	number, isPercent := strings.CutSuffix(word, "%")
	switch {
	case len(args) == 2 && word == "spring":
		return s.SpringJitter(p.duration(args[1]))
	case len(args) > 1:
		p.fail(args[1].at, "%q: want one argument, or spring and a duration", args[1].text)
	case word == "full":
		return s.FullJitter()
	case word == "equal":
		return s.EqualJitter()
	case isPercent:
		x, err := fraction(number)
		if err == nil {
			return s.ProportionalJitter(x)
		}
		p.fail(at, "%q is no percentage: want one such as 20%%", word)
	case strings.HasPrefix(word, "+") && !strings.HasPrefix(word, "++"):
		return s.AdditiveJitter(p.duration(argument{word[1:], at + 1}))
	default:
		p.fail(at, "%q is no jitter: want full, equal, 20%%, +50ms or spring,100ms", word)
	}
	return s
}

// then reads the number of waits and the strategy that follows.
func (p *parser) then(s Strategy) Strategy {
	if !p.accept('(') {
		p.unexpected("(waits,strategy)")
		return s
	}
	waits := p.argument()
	n, err := strconv.Atoi(waits.text)
	if err != nil {
		p.fail(waits.at, "%q is no number of waits: want one such as 4", waits.text)
	}
	if !p.accept(',') {
		p.unexpected("a comma and the strategy that follows")
	}
	if p.failed {
		return s
	}
	if p.parts++; p.parts > mostParts {
		p.fail(waits.at, "too many parts: want at most %d", mostParts)
		return s
	}
	next := p.strategy()
	if !p.accept(')') {
		p.unexpected("a closing parenthesis")
	}
	return s.Then(n, next)
}

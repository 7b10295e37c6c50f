package retry

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/dacapo-go/dacapo/backoff"
)

// Unlimited is the argument of [Policy.MaxRetries] that sets no limit.
const Unlimited = math.MaxInt

const (
	defaultRetries = 3
	defaultHint    = 5 * time.Minute
)

// A Policy says whether and when a failed call is made again.
//
// It is a small immutable value: every refinement returns a changed copy. It is
// safe for concurrent use, and one value can serve any number of runs at once.
// The zero Policy has the defaults: 3 retries, so 4 calls; a constant wait of
// 1s; no jitter; no time limit; every error is retried, unless it is
// [Permanent]; a server's hint is followed up to 5 minutes.
//
// Refinements store and do not judge. [Policy.Err] names every fault at once,
// and a policy with a fault makes no call. On, Except, If and Events add to what was
// given before; every other refinement replaces it, with its fault if it had one.
type Policy struct {
	backoff backoff.Strategy // as it was given; the zero Strategy stands for the default
	retries int              // less the default, so that the zero Policy has it
	more    *settings        // what few policies have; never changed once it is here
}

// settings are the rare part of a policy.
type settings struct {
	on, except     []Matcher
	ifs            []func(error) bool
	events         []func(context.Context, Event)
	rand           func() uint64
	limiter        Limiter
	maxElapsed     time.Duration
	attemptTimeout time.Duration
	hintMax        time.Duration
	hintMode       HintMode
	set            setting
}

// setting has a bit for every setting whose zero value is not "not given".
type setting uint16

const (
	setMaxElapsed setting = 1 << iota
	setAttemptTimeout
	setHints
	setRand
	setWrapErrors
	setAttemptInfo
	setLimit
	setOnNothing     // On without a matcher
	setExceptNothing // Except without a matcher
)

// New returns the policy with the defaults, which is the zero Policy.
func New() Policy { return Policy{} }

// Standard returns a policy for calls to a service that many clients share: at
// most 3 retries, after waits drawn from up to 100ms, 200ms and 400ms
// (exponential, full jitter, capped at 10s where more retries are asked for).
func Standard() Policy {
	return New().Backoff(backoff.Exponential(100*time.Millisecond, 2).Cap(10 * time.Second).FullJitter())
}

// MaxRetries sets how often a failed call is made again: n retries are at most
// 1 + n calls, and 0 is one call. [Unlimited] sets no limit.
func (p Policy) MaxRetries(n int) Policy {
	p.retries = n - defaultRetries // a wrap is undone where it is read
	return p
}

// Backoff sets the strategy that gives the waits. The zero Strategy waits for
// nothing.
func (p Policy) Backoff(s backoff.Strategy) Policy {
	if s == (backoff.Strategy{}) {
		s = noWait
	}
	p.backoff = s
	return p
}

// MaxElapsed sets a budget of time, counted from the start of the run. It is
// looked at when a call has failed: once d has passed, or where the next wait
// would reach it, no retry follows. It never interrupts a call, so a run can last
// longer than d by one call; AttemptTimeout bounds that, and a deadline of the
// context bounds everything. d is above 0.
func (p Policy) MaxElapsed(d time.Duration) Policy {
	s := p.settings()
	s.maxElapsed, s.set = d, s.set|setMaxElapsed
	p.more = &s
	return p
}

// AttemptTimeout gives each call a context of its own that ends after d with the
// cause [ErrAttemptTimeout]. A call that ends by it has failed like any other,
// and is retried. The context ends as soon as the operation returns: read the
// body of a response inside the operation. d is above 0.
func (p Policy) AttemptTimeout(d time.Duration) Policy {
	s := p.settings()
	s.attemptTimeout, s.set = d, s.set|setAttemptTimeout
	p.more = &s
	return p
}

// On retries only the errors that one of the matchers matches. It adds to the
// matchers given before. See [Policy.If] for the order of the questions.
func (p Policy) On(ms ...Matcher) Policy {
	s := p.settings()
	s.on = slices.Concat(s.on, ms)
	if len(ms) == 0 {
		s.set |= setOnNothing
	}
	p.more = &s
	return p
}

// Except retries none of the errors that one of the matchers matches, also
// where On matches. It adds to the matchers given before.
func (p Policy) Except(ms ...Matcher) Policy {
	s := p.settings()
	s.except = slices.Concat(s.except, ms)
	if len(ms) == 0 {
		s.set |= setExceptNothing
	}
	p.more = &s
	return p
}

// If retries only the errors for which pred holds. It adds to the predicates
// given before. An error is retried if no Except matches, and On was not given
// or matches, and every If says yes: asked in this order, the first no ends the
// run. pred gets the error without a mark of [Permanent] or [After] around it, runs
// on the run's goroutine and must be safe for concurrent use.
func (p Policy) If(pred func(error) bool) Policy {
	s := p.settings()
	s.ifs = append(slices.Clip(s.ifs), pred)
	p.more = &s
	return p
}

// Events calls hook at every step of every run, after the hooks given before,
// on the run's goroutine and with the run's context. hook must be safe for
// concurrent use.
func (p Policy) Events(hook func(context.Context, Event)) Policy {
	s := p.settings()
	s.events = append(slices.Clip(s.events), hook)
	p.more = &s
	return p
}

// Rand sets the source of the random words of the jitter, which must be safe
// for concurrent use. The default is [math/rand/v2.Uint64]. It is asked once
// for a wait that is random.
func (p Policy) Rand(source func() uint64) Policy {
	s := p.settings()
	s.rand, s.set = source, s.set|setRand
	p.more = &s
	return p
}

// WrapErrors makes every failed run return an [*Error], which says why it ended,
// after how many calls and how long. The default returns the last error as it is.
func (p Policy) WrapErrors() Policy {
	s := p.settings()
	s.set |= setWrapErrors
	p.more = &s
	return p
}

// WorstCase returns the greatest number of calls that a run can make, and the
// greatest sum of its waits: at most MaxElapsed, and at most the longest
// Duration. Not counted are the time of the calls themselves and hints, which
// can lengthen a wait. Where retries are Unlimited, calls is too. A policy with
// a fault makes no call.
func (p Policy) WorstCase() (calls int, wait time.Duration) {
	if p.Err() != nil {
		return 0, 0
	}
	calls = p.maxRetries()
	_, wait = p.strategy().Total(calls)
	if calls < Unlimited {
		calls++
	} else if _, hi := p.strategy().Bounds(calls); hi > 0 {
		wait = math.MaxInt64 // also where an int has 32 bits
	}
	if p.has(setMaxElapsed) {
		wait = min(wait, p.more.maxElapsed)
	}
	return calls, wait
}

// settings returns a copy of the rare part, to be changed and put back. (A
// refinement does this in its own few lines, so that it is inlined and the copy
// need not be on the heap.)
func (p Policy) settings() settings {
	if p.more == nil {
		return settings{}
	}
	return *p.more
}

func (p *Policy) has(s setting) bool { return p.more != nil && p.more.set&s != 0 }

// maxRetries returns how many retries may follow the first call.
func (p *Policy) maxRetries() int { return p.retries + defaultRetries }

var (
	defaultStrategy = backoff.Constant(time.Second)
	noWait          = backoff.Constant(0) // what the zero Strategy is stored as
)

// strategy returns the strategy that gives the waits.
func (p *Policy) strategy() *backoff.Strategy {
	if p.backoff == (backoff.Strategy{}) {
		return &defaultStrategy
	}
	return &p.backoff
}

// hooked reports whether a run has somebody to tell of its events.
func (p *Policy) hooked() bool { return p.more != nil && len(p.more.events) > 0 }

// timed reports whether a run has to know how long it lasts.
func (p *Policy) timed() bool { return p.has(setMaxElapsed|setWrapErrors) || p.hooked() }

// plain reports whether there is nothing to judge or prepare before the first
// call, but for the strategy.
func (p *Policy) plain() bool { return p.more == nil && p.maxRetries() >= 0 }

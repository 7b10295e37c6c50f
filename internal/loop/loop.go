// Package loop lets the packages above retry take its loop step by step, so that
// they can wait in a way of their own. There is one loop, and it is retry's: it sets
// [Driver] when the program starts.
package loop

import (
	"context"
	"time"
)

// A Stepper takes a run one step further. The policy is a *retry.Policy, and the
// same in every step; so is ctx, the run's own.
type Stepper interface {
	// Start judges what is to be judged before the first call. An error is the
	// run's end.
	Start(ctx context.Context, policy any, s *State, eager bool) error

	// Call begins a call, and returns its context. If that is to end with the call,
	// s.End ends it. How many failures have been awaited (see package eager) is to be
	// handed to Return.
	Call(ctx context.Context, policy any, s *State) (call context.Context, awaited uint64)

	// Return decides what follows a call that returned err: another one after a
	// wait, where end is err without a mark of a stale future, or the run's end with end.
	Return(ctx context.Context, policy any, s *State, awaited uint64, err error) (wait time.Duration, again bool, end error)

	// Leave ends a run whose consumer wants no more, when its call returned err.
	Leave(ctx context.Context, policy any, s *State, err error) (end error)

	// Recovered is called before Return where the source that failed had recovered before
	// it did: its retries are counted from here.
	Recovered(policy any, s *State)

	// Drop ends a run whose code, or its user's, did not return.
	Drop(policy any, s *State)

	// Wake is called after the wait that followed err. An error is the run's end:
	// its context has ended.
	Wake(ctx context.Context, policy any, s *State, err error) (end error)
}

var (
	// Driver is set by package retry.
	Driver Stepper

	// Inspect is set, too: it returns err without the marks around it, and whether one
	// in it says that no other try can help.
	Inspect func(err error) (own error, permanent bool)
)

// State is where a run stands between two steps. The zero State is a run that has
// not started. It is small, because many runs can be waiting at once.
type State struct {
	Calls int           // made or being made
	Prev  time.Duration // the strategy's part of the wait before
	Rest  *Rest         // nil where there is nothing in it
}

// Extra returns the part of the state that few runs have.
func (s *State) Extra() *More {
	if s.Rest == nil {
		s.Rest = new(Rest)
	}
	if s.Rest.More == nil {
		s.Rest.More = new(More)
	}
	return s.Rest.More
}

// End ends the context of a call, if it is to end.
func (s *State) End() {
	if s.Rest != nil && s.Rest.More != nil && s.Rest.More.Cancel != nil {
		s.Rest.More.Cancel()
	}
}

// Rest is the part of a State that a run has after its first retry, or under some
// settings of its policy.
type Rest struct {
	Earlier []error // that were overcome: the first two and the last two
	More    *More   // nil where there is nothing in it
}

// More is the part of a State that few runs have.
type More struct {
	Began   time.Time
	Info    context.Context
	Cancel  context.CancelFunc
	Suspect bool   // the next call may meet a stale future
	Epoch   uint64 // of the call, if it may

	Base int                       // calls that no longer count as retries: those before a reset
	Last uint8                     // the retry.Reason for which no retry may follow the call; 0: one may
	Veto func(time.Duration) uint8 // asked, with the wait, before a retry: the reason for which there is none; nil: not asked

	Toll Toll
}

// Toll is what a run has paid to the limiter of its policy.
type Toll struct {
	Paid    int64 // for its last retry
	Unmade  bool  // which has not begun
	Settled bool  // the limiter knows that the run has ended
}

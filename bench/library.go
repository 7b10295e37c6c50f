package main

import (
	"context"
	"errors"
	"time"
)

type (
	// op is the work that is retried, in the form that most programs have it: a library that
	// wants another form gets a closure around it, as its documentation shows.
	op = func(context.Context) (int, error)
	// run is one run of an op under a policy.
	run = func() (int, error)
)

var (
	errBusy = errors.New("busy") // worth a retry
	errGone = errors.New("gone") // lasting: no retry can help
)

// plan is a retry policy, in no library's words.
type plan struct {
	retries int
	first   time.Duration // the first wait; 0: no waits
	factor  float64       // 0: the wait is constant
	limit   time.Duration // no wait is to be longer; 0: no limit
	jitter  bool          // as much as the library has
	within  time.Duration // a budget of time for the run; 0: none
	gone    bool          // errGone is not to be retried
	shared  bool          // what counts inside is shared, though the library may warn of it
}

// usual is the policy of R1 and R1c.
var usual = plan{retries: 5, first: 100 * time.Millisecond, factor: 2, limit: 5 * time.Second, jitter: true}

// library is how a retry library is used: as its documentation says, in the fastest way that
// it documents. What can be made once is made once.
type library struct {
	name, how string

	// How an operation marks its errors, and that one asks for a wait; nil where a plain error will do.
	busy, lasting func(error) error
	after         func(time.Duration, error) error

	// build makes the policy of p. What it returns binds an operation to it, for one
	// goroutine. It returns nil where the library has no such settings.
	build func(ctx context.Context, p plan) func(op) run
	// written runs op once under the usual policy, written at the call.
	written func(ctx context.Context, op op) (int, error)
	// eight draws the first eight waits of the usual policy, by what drawn says.
	eight func() time.Duration
	drawn string
	// hundredth is the wait before retry 100 of 1s, 2s, 4s… without a limit.
	hundredth func() time.Duration
}

// libraries are all that retry functions, this toolkit first.
func libraries() []library {
	return []library{dacapo(), cenkalti(), avast(), failsafeGo(), sethvargo(), eapache(), gaxGo(), k8sWait()}
}

func mark(with func(error) error, err error) error {
	if with == nil {
		return err
	}
	return with(err)
}

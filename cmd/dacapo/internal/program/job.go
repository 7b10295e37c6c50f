// Package program runs a program again while it fails, as a retry policy says.
//
// An attempt of the program is an operation for [retry.Run]: its exit status is an error,
// what must not be retried is Permanent, and what it says of when to come back is a hint.
// What is decided here is only what counts as a failure, and what may be retried at all.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"

	"github.com/dacapo-go/dacapo/retry"
)

// The exit statuses that are not the program's own.
const (
	notMatched    = 1 // it succeeded, but Until did not match
	TimedOut      = 124
	OwnFailure    = 125
	notExecutable = 126
	notFound      = 127
	bySignal      = 128 // plus the signal's number
	tempFail      = 75  // EX_TEMPFAIL of sysexits.h: the program asks to be tried again
)

// A Job is a program to be run, and how.
type Job struct {
	Args       []string // the program and its arguments
	Policy     retry.Policy
	Timeout    time.Duration  // of the whole run; 0: none
	KillAfter  time.Duration  // from the first signal to SIGKILL
	On, Except Statuses       // which are retried; nil: not given
	OnOutput   *regexp.Regexp // retry only if a line matches; nil: whatever the output is
	Until      *regexp.Regexp // success needs a line that matches; nil: it needs none
	Hold       bool           // show the last attempt's output only
	Raw        bool           // the program gets dacapo's own stderr
	StdinLimit int64          // how many bytes are kept for the next attempt
	Text       bool           // tell on Stderr of each retry and of the end
	Stdin      io.Reader
	Stdout     io.Writer
	Stderr     io.Writer
}

// runner is a job that is run.
type runner struct {
	Job
	signals  *signals
	stdin    *stdin
	held     *spool           // under Hold
	shared   bool             // the program stays in dacapo's process group: see group
	children <-chan os.Signal // says that an adopted process has ended

	lost error // what of dacapo's own went wrong
	own  int   // the exit status that says so
}

// errTimeout is the cause of the end of a whole run.
var errTimeout = errors.New("--timeout is over")

// Run runs the program until it succeeds or the policy, a signal or the time ends the run.
// It returns the exit status, and an error where something of dacapo's own went wrong.
// Where the terminal has interrupted both dacapo and the program, it does not return.
func (j Job) Run(ctx context.Context) (status int, err error) {
	r := &runner{Job: j, shared: foreground(), children: adopt()}
	if status = r.run(ctx); r.shared && r.signals.got == os.Interrupt && status == bySignal+number(os.Interrupt) {
		raise()
	}
	return status, r.lost
}

func (r *runner) run(ctx context.Context) int {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if r.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, r.Timeout, errTimeout)
		defer stop()
	}
	r.signals = catch(cancel)
	defer r.signals.release()
	calls, _ := r.Policy.WorstCase()
	r.stdin = newStdin(r.Stdin, r.StdinLimit, calls > 1)
	if r.Hold {
		r.held = new(spool)
		defer func() { _ = r.held.close() }()
	}
	policy := r.Policy.AttemptInfo().If(r.wanted).Limit(replays{r})
	if r.Text {
		policy = policy.Events(r.text)
	}
	err := retry.Run(ctx, policy, r.attempt)
	if e := r.show(); e != nil && r.lost == nil {
		_ = r.fail(OwnFailure, e)
	}
	return r.status(ctx, err)
}

// show shows what was held.
func (r *runner) show() error {
	if r.held == nil {
		return nil
	}
	if err := r.held.writeTo(r.Stdout, r.Stderr); err != nil {
		return fmt.Errorf("cannot show the held output: %w", err)
	}
	return nil
}

// A Failure is an attempt that did not succeed.
type Failure struct {
	Status int    // the exit status that says so
	What   string // in words

	unmatched bool // it succeeded, but Until did not match
	busy      bool // it could not be started, for want of something that may be there in a moment
	output    bool // OnOutput matched
}

// Error says what happened.
func (f *Failure) Error() string { return f.What }

// wanted says whether a failure may be retried, whatever the policy then says.
func (r *runner) wanted(err error) bool {
	f, ok := errors.AsType[*Failure](err)
	switch {
	case !ok:
		return false
	case r.Except.has(f.Status) && !f.unmatched:
		return false
	case f.unmatched, f.busy, f.Status == tempFail:
		return true
	case r.On != nil && !r.On.has(f.Status):
		return false
	case r.On == nil && (f.Status == notExecutable || f.Status == notFound):
		return false
	}
	return r.OnOutput == nil || f.output
}

// replays refuses a retry that cannot have the input again. It is asked when all else has
// said yes.
type replays struct{ *runner }

func (r replays) Allow(context.Context, error) (int64, bool) {
	if !r.stdin.tooLong() {
		return 0, true
	}
	_ = r.fail(OwnFailure, fmt.Errorf(
		"no retry: stdin is longer than --stdin-limit, %d bytes, so a second attempt cannot have it: raise the limit, or give a file as stdin",
		r.StdinLimit,
	))
	return 0, false
}

// Done does nothing.
func (r replays) Done(retry.Outcome) {}

// status is the exit status of a run that ended with err.
func (r *runner) status(ctx context.Context, err error) int {
	f, _ := errors.AsType[*Failure](err)
	e, byContext := errors.AsType[*retry.Error](err)
	switch {
	case r.lost != nil:
		return r.own
	case err == nil:
		return 0
	case byContext && (e.Reason == retry.DeadlineWouldExceed || errors.Is(context.Cause(ctx), errTimeout)):
		return TimedOut
	case r.signals.waiting:
		return bySignal + number(r.signals.got)
	case f == nil:
		return OwnFailure
	}
	return f.Status
}

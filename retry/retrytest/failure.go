package retrytest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"os"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/retry"
)

// tried is an error that a policy is asked about.
type tried struct {
	err       error
	hint      time.Duration // that the error gives
	known     bool          // hint is all there is
	permanent bool
}

var errBoom = errors.New("boom")

// family is errors as operations return them, the plainest first.
func family() []tried {
	all := []tried{{err: errBoom, known: true}}
	for _, err := range []error{
		io.EOF, context.Canceled, context.DeadlineExceeded, &fs.PathError{Op: "open", Path: "boom", Err: fs.ErrNotExist},
		&net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded},
	} {
		all = append(all, tried{err: err, known: true})
	}
	return append(all, around(all[0])...)
}

// around is the errors that have e in their tree: wrapped, joined, marked.
func around(e tried) []tried {
	all := []tried{
		{fmt.Errorf("wrapped: %w", e.err), e.hint, e.known, e.permanent},
		{errors.Join(io.EOF, e.err), e.hint, e.known, e.permanent},
		{retry.Permanent(e.err), 0, e.known, true},
		{fmt.Errorf("wrapped: %w", retry.Permanent(e.err)), 0, e.known, true},
	}
	for _, hint := range []time.Duration{time.Second, time.Minute, longest} {
		all = append(all, tried{retry.After(hint, e.err), max(hint, e.hint), e.known, e.permanent})
	}
	return all
}

// tries is every error that the policy is asked about.
func (c *claims) tries() []tried {
	all := family()
	for _, err := range c.errs {
		own := tried{err: err}
		all = append(append(all, own), around(own)...)
	}
	return all
}

// failures lists questions to the policy from the smallest to the greatest.
func (c *claims) failures() (all []failure) {
	for _, at := range c.places() {
		for _, e := range append(c.tries(), tried{known: true}) {
			f := failure{at, e}
			f.Err = e.err
			all = append(all, f)
		}
	}
	return all
}

// places lists where a run can stand: first at its beginning, then everything else on its own.
func (c *claims) places() []retry.Failure {
	all := []retry.Failure{{}, {Draw: 1 << 63}, {Draw: math.MaxUint64}}
	for n := range 8 {
		all = append(all, retry.Failure{Retries: n + 1}, retry.Failure{Retries: n + 1, Draw: math.MaxUint64})
	}
	late := []int{c.calls - 2, c.calls - 1, c.calls, dense, 1000, math.MaxInt - 1, math.MaxInt}
	slices.Sort(late)
	for _, n := range slices.Compact(late) {
		all = append(all, retry.Failure{Retries: max(n, 0)})
	}
	for _, d := range []time.Duration{-1, 1, time.Hour, longest} {
		all = append(all, retry.Failure{Prev: d}, retry.Failure{Elapsed: d}, retry.Failure{Deadline: true, Left: d})
	}
	return append(all,
		retry.Failure{Elapsed: c.maxElapsed - 1}, retry.Failure{Elapsed: c.maxElapsed},
		retry.Failure{Deadline: true}, retry.Failure{Ended: true}, retry.Failure{Stale: true}, retry.Failure{Retries: -1},
	)
}

func (c *claims) anyFailure() *rapid.Generator[failure] {
	errs := c.tries()
	flag := rapid.Map(rapid.IntRange(0, 9), func(i int) bool { return i == 9 })
	return rapid.Custom(func(t *rapid.T) failure {
		f := failure{tried: rapid.SampledFrom(errs).Draw(t, "error")}
		f.Failure = retry.Failure{
			Err:     f.err,
			Retries: rapid.OneOf(rapid.IntRange(0, 20), rapid.Int()).Draw(t, "retries"),
			Prev:    anyDuration.Draw(t, "prev"), Elapsed: anyDuration.Draw(t, "elapsed"), Left: anyDuration.Draw(t, "left"),
			Deadline: flag.Draw(t, "deadline"), Ended: flag.Draw(t, "ended"), Stale: flag.Draw(t, "stale"),
			Draw: rapid.Uint64().Draw(t, "draw"),
		}
		return f
	})
}

var anyDuration = rapid.OneOf(durations(time.Minute), rapid.Map(rapid.Int64(), func(i int64) time.Duration { return time.Duration(i) }))

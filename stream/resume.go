package stream

import (
	"context"
	"errors"

	"github.com/dacapo-go/dacapo/retry"
)

// Resume returns the stream that goes on where it failed: every element is delivered once, if
// each gives a cursor. It runs what open returns for a cursor, such as an offset, an id or the token of a page;
// cursor says where to go on behind an element, or false where no run could begin there.
// When a run fails, and p says so, the next is opened from the cursor of the last element
// that the consumer took (yield returned true) and that has one. Elements between that and
// the failure are delivered again.
//
// first is true until an element has moved the cursor: from is start then, and open is
// to begin there, not behind it.
//
// The zero r counts retries anew whenever an element gave a cursor in the run that failed,
// so MaxRetries alone does not bound a source that goes on a little each time: cap it.
// Apart from that a run is as in [Stream.Retry]. To go on in another process, keep the
// cursor of what the consumer has done, which can be less than it took.
func Resume[T, C any](
	open func(ctx context.Context, from C, first bool) Stream[T], cursor func(T) (C, bool), start C, p retry.Policy, r Reset,
) Stream[T] {
	faults := []error{p.Err(), r.Err()}
	if open == nil || cursor == nil {
		faults = append(faults, errors.New("stream.Resume: nil open or cursor: want functions"))
	}
	if err := joined(faults); err != nil {
		return Failed[T](err)
	}
	if r.kind == never {
		r.kind = onProgress
	}
	return func(ctx context.Context, yield func(T) bool) error {
		from, first := start, true
		run := rerun{policy: &p, reset: r}
		return run.run(ctx, func(ctx context.Context) (did attempt) {
			deliver := counted(&did.fresh, yield)
			did.err = open(ctx, from, first).run(ctx, func(v T) bool {
				if !deliver(v) {
					return false
				}
				if c, ok := cursor(v); ok {
					from, first, did.moved = c, false, true
				}
				return true
			})
			did.gave = did.fresh > 0
			return did
		})
	}
}

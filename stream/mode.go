package stream

import (
	"errors"
	"fmt"
	"hash/maphash"
	"time"
)

// A Mode says what a retry does with elements that have been delivered when a run fails:
// no retry can take them back. It is a required argument of [Stream.Retry], a small
// immutable value and safe for concurrent use.
//
//	BeforeFirst   retries until the first element is delivered, and not after it
//	Restart       starts anew: elements can be delivered more than once
//	SkipSeen      starts anew and drops as many elements as were delivered
//	Buffered      delivers nothing until a run has succeeded
//
// To go on behind the last element instead, use [Resume]. The zero Mode is a fault.
type Mode[T any] struct {
	kind  kind
	max   int            // Buffered
	hash  func(T) uint64 // SkipSeen
	reset Reset
}

type kind uint8

const (
	_ kind = iota
	beforeFirst
	restart
	skipSeen
	buffered
)

// BeforeFirst retries until the first element has been delivered. A failure after that
// ends the run with reason retry.Partial. Nothing is delivered twice.
func BeforeFirst[T any]() Mode[T] { return Mode[T]{kind: beforeFirst} }

// Restart retries from the start: what has been delivered is delivered again. It is for
// consumers that do not mind, and for streams of which only the last element counts.
func Restart[T any]() Mode[T] { return Mode[T]{kind: restart} }

// SkipSeen retries from the start and drops as many elements as have been delivered, for
// a source that gives the same elements in every run. A run that gets past what was
// delivered, or completes, fails with [ErrDiverged], before anything new is delivered, if
// the elements that were dropped differ from those delivered, by a hash of 64 bits over all
// of them. A number and the hash are all that is kept.
//
// Elements are hashed by [maphash.Comparable]: no two NaN are the same; a pointer is the
// same only if it points to the same place, and a [time.Time] holds one to its Location
// (use SkipSeenBy(time.Time.UnixNano)); an interface with a value that cannot be compared
// panics.
func SkipSeen[T comparable]() Mode[T] { return SkipSeenBy(func(v T) T { return v }) }

// SkipSeenBy is SkipSeen for elements that cannot be compared, or of which only a key is
// the same in every run.
func SkipSeenBy[T any, K comparable](key func(T) K) Mode[T] {
	if key == nil {
		return Mode[T]{kind: skipSeen}
	}
	return Mode[T]{kind: skipSeen, hash: func(v T) uint64 { return maphash.Comparable(seed, key(v)) }}
}

var seed = maphash.MakeSeed()

// Buffered keeps the elements of a run and delivers them when it has succeeded: all of
// one run, or nothing. A run of more than max elements fails with [ErrBuffer], and is not
// retried. max is at least 1.
func Buffered[T any](max int) Mode[T] { return Mode[T]{kind: buffered, max: max} }

// Reset sets when the count of retries, and the waits, begin anew. Without it they do
// not. On Buffered, which delivers nothing before the end, a reset by elements is a fault.
func (m Mode[T]) Reset(r Reset) Mode[T] {
	if m.reset = r; r.kind == neverInResume {
		m.reset.kind = never
	}
	return m
}

// The errors of modes. They are permanent.
var (
	// ErrDiverged is the error of a run under [SkipSeen] whose source did not give again
	// what it had given.
	ErrDiverged = fault("stream: the source gave other elements than before: SkipSeen needs one that repeats itself; use Restart or Resume")

	// ErrBuffer is the error of a run under [Buffered] that has more elements than the
	// buffer.
	ErrBuffer = fault("stream: the run has more elements than Buffered may keep")
)

// Err returns every fault of the mode and its reset, joined, or nil.
func (m Mode[T]) Err() error {
	faults := m.reset.faults()
	if m.reset.kind == onProgress {
		faults = append(faults, errors.New("stream: ResetOnProgress with a mode, which has no cursor: want ResetAfter or ResetHealthy"))
	}
	switch m.kind {
	case 0:
		faults = append(faults, errors.New("stream: the zero Mode does not say what is to become of delivered elements: "+
			"want BeforeFirst, Restart, SkipSeen or Buffered"))
	case skipSeen:
		if m.hash == nil {
			faults = append(faults, errors.New("stream: SkipSeenBy with a nil key: want a function"))
		}
	case beforeFirst:
		if m.reset.kind != never {
			faults = append(faults, errors.New("stream: a reset with BeforeFirst, which is not retried after an element: leave it out"))
		}
	case buffered:
		if m.max < 1 {
			faults = append(faults, fmt.Errorf("stream: Buffered may keep %d elements: want 1 or more", m.max))
		}
		if m.reset.kind == afterElements {
			faults = append(faults, errors.New("stream: ResetAfter with Buffered, which delivers nothing before the end: want ResetHealthy"))
		}
	}
	return joined(faults)
}

// joined joins faults, which are permanent.
func joined(faults []error) error {
	if err := errors.Join(faults...); err != nil {
		return lasting{err}
	}
	return nil
}

// A Reset says when a run of retries begins to count anew, because the source had
// recovered in between: the number of retries and the wait then are as at first. It is a
// small immutable value, safe for concurrent use. The zero Reset is [ResetNever] for a
// [Mode], and [ResetOnProgress] for [Resume].
//
// A source that recovers and fails for ever is retried for ever, unless MaxTotal or
// MaxWithin caps it.
type Reset struct {
	kind   resetKind
	n      int
	d      time.Duration
	capped capped
	total  int
	most   int
	within time.Duration
}

type (
	resetKind uint8
	capped    uint8
)

const (
	never resetKind = iota
	afterElements
	afterTime
	onProgress
	neverInResume
)

const (
	byTotal capped = 1 << iota
	byRate
)

// ResetNever does not begin anew.
func ResetNever() Reset { return Reset{kind: neverInResume} }

// ResetOnProgress begins anew when an element gave a cursor in the run that failed. It is
// for [Resume].
func ResetOnProgress() Reset { return Reset{kind: onProgress} }

// ResetAfter begins anew when a run has delivered n elements before it failed: at least 1.
// Under Restart elements that are delivered again count, too.
func ResetAfter(n int) Reset { return Reset{kind: afterElements, n: n} }

// ResetHealthy begins anew when a run has delivered an element (under Buffered, kept one),
// and lasted for d, before it failed. d is more than 0.
func ResetHealthy(d time.Duration) Reset { return Reset{kind: afterTime, d: d} }

// MaxTotal caps all retries, whatever is reset: 0 or more. The run then ends with reason
// retry.Exhausted. (RetriesLeft of retry.AttemptFrom does not count it.)
func (r Reset) MaxTotal(n int) Reset {
	r.total, r.capped = n, r.capped|byTotal
	return r
}

// MaxWithin caps the retries within any time d: n of at least 1, d of more than 0. The run
// then ends with reason retry.Exhausted. It keeps the instants of the last n retries.
func (r Reset) MaxWithin(n int, d time.Duration) Reset {
	r.most, r.within, r.capped = n, d, r.capped|byRate
	return r
}

// Err returns every fault of the reset, joined, or nil.
func (r Reset) Err() error { return joined(r.faults()) }

func (r Reset) faults() (faults []error) {
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	fault(r.kind == afterElements && r.n < 1, "stream: ResetAfter(%d): want 1 or more", r.n)
	fault(r.kind == afterTime && r.d <= 0, "stream: ResetHealthy(%v): want more than 0", r.d)
	fault(r.capped&byTotal != 0 && r.total < 0, "stream: MaxTotal(%d): want 0 or more", r.total)
	fault(r.capped&byRate != 0 && (r.most < 1 || r.within <= 0), "stream: MaxWithin(%d, %v): want 1 or more, in more than 0", r.most, r.within)
	return faults
}

// Package eager holds what retry and future share so that work which has run is
// not taken for work that can run again: which results are eager, and which
// failures are older than the attempt that meets them.
//
// The second is found like this. Every future that fails notes its epoch, and every
// failure that is awaited is counted. If the count changed during an attempt that
// failed, the next attempt is suspicious: it opens a new epoch and carries it in its
// context. Where a future is awaited with that context and had failed in an earlier
// epoch, its error gets a mark that names the attempt; if the attempt then fails
// with the mark on the one chain of its error, another attempt could only meet the
// same failure.
package eager

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"
)

// result is retry.Eager. (A type in Is itself would be another for each T, and slow.)
type result interface{ EagerResult() }

// Is reports whether T or *T is an eager result. Not seen are an interface type, an
// eager result inside another type and, for the price of a second look in every run, *T
// where T has the size of a pointer and is none.
func Is[T any]() bool {
	var zero T
	if unsafe.Sizeof(zero) != unsafe.Sizeof(uintptr(0)) { // no pointer; in an interface it could be an allocation
		_, ok := any((*T)(nil)).(result)
		return ok
	}
	_, ok := any(zero).(result)
	return ok
}

var (
	awaited atomic.Uint64 // failures, by anyone
	epochs  atomic.Uint64 // opened so far
)

// Awaited returns how many failures have been awaited.
func Awaited() uint64 { return awaited.Load() }

// Now returns the epoch of a failure that happens now. An epoch opened later is not
// below it, one opened before is.
func Now() (epoch uint64) { return epochs.Load() + 1 }

// Open opens the epoch of an attempt that begins now.
func Open() (epoch uint64) { return epochs.Add(1) }

// attempt is a context with the epoch of the attempt that it belongs to.
type attempt struct {
	context.Context
	epoch uint64
}

type key struct{}

func (a *attempt) Value(k any) any {
	if k == (key{}) {
		return a
	}
	return a.Context.Value(k)
}

// String keeps fmt from looking into the contexts around it, which change.
func (a *attempt) String() string { return fmt.Sprintf("%v.WithAttempt(%d)", a.Context, a.epoch) }

// With returns ctx with the epoch of an attempt. With 0 nothing that is awaited
// under it is marked.
func With(ctx context.Context, epoch uint64) context.Context { return &attempt{ctx, epoch} }

// mark says of a failure that it is older than the attempt that met it.
type mark struct {
	error
	failed, attempt uint64 // the epochs
	void            atomic.Bool
}

func (m *mark) Unwrap() error { return m.error }

// Await counts that err, which failed in an epoch, is awaited under ctx. It returns
// err, with a mark if ctx belongs to an attempt that is younger.
func Await(ctx context.Context, failed uint64, err error) error {
	awaited.Add(1)
	return Mark(ctx, failed, err)
}

// Mark is Await for what has been counted.
func Mark(ctx context.Context, failed uint64, err error) error {
	if a, ok := ctx.Value(key{}).(*attempt); ok && failed <= a.epoch {
		return &mark{error: err, failed: failed, attempt: a.epoch}
	}
	return err
}

// Strip returns err without the marks around it, and the epoch of the failure: now,
// if none says otherwise.
func Strip(err error) (own error, epoch uint64) { //nolint:staticcheck // the error is no failure of Strip
	epoch = Now()
	for {
		m, ok := err.(*mark)
		switch {
		case !ok:
			return err, epoch
		case !m.void.Load():
			epoch = min(epoch, m.failed)
		}
		err = m.error
	}
}

// Find looks for the mark of an attempt on the one chain of err: what is joined is
// undecided, and so is a failure that the attempt before, which failed with before, did
// not have. It returns the epoch of the failure, or 0, and err without the mark where that
// is outermost.
func Find(err, before error, attempt uint64) (own error, failed uint64) { //nolint:staticcheck // nor of Find
	m := find(err, func(m *mark) bool { return m.attempt == attempt })
	switch {
	case m == nil:
		return err, 0
	case err == error(m):
		err = m.error
	}
	if m.void.Load() || !errors.Is(before, m.error) {
		return err, 0
	}
	return err, m.failed
}

// Choose returns last, the last of some failures, of which others may have been the
// result. Unless all have a mark, theirs is void: another attempt could end otherwise.
func Choose(last error, allMarked bool) error {
	if m := find(last, anyMark); m != nil && !allMarked {
		m.void.Store(true)
	}
	return last
}

// IsMarked reports whether a mark is on the one chain of err.
func IsMarked(err error) bool { return find(err, anyMark) != nil }

func anyMark(m *mark) bool { return !m.void.Load() }

// find returns the outermost mark on the one chain of err that passes, or nil.
func find(err error, passes func(*mark) bool) *mark {
	for err != nil && !isNil(err) {
		if m, ok := err.(*mark); ok && passes(m) {
			return m
		}
		err = errors.Unwrap(err)
	}
	return nil
}

// isNil reports whether err is a nil pointer, whose methods may not be called.
func isNil(err error) bool {
	v := reflect.ValueOf(err)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

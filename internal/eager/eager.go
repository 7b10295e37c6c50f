// Package eager holds what retry and future share so that work which has run is
// not taken for work that can run again: which results are eager, and which
// failures are older than the attempt that meets them.
//
// The second is found like this. Every future that fails notes its epoch. An
// attempt that follows a failed one opens a new epoch and carries it in its
// context. Where a future is awaited with that context and had failed in an earlier
// epoch, its error gets a mark that names the attempt; if the attempt then fails
// with the mark on the one chain of its error, another attempt could only meet the
// same failure. Where no future has ever failed, no attempt opens an epoch.
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

// Is reports whether T or *T is an eager result. An interface type, and an eager
// result inside another type, are not seen.
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
	failed atomic.Bool   // a future has failed
	epochs atomic.Uint64 // opened so far
)

// Fail returns the epoch of a failure that happens now. An epoch opened later is
// not below it, one opened before is.
func Fail() (epoch uint64) {
	if !failed.Load() {
		failed.Store(true)
	}
	return epochs.Load() + 1
}

// Open opens the epoch of an attempt that begins now. It is 0, for none, as long as
// no future has failed.
func Open() (epoch uint64) {
	if !failed.Load() {
		return 0
	}
	return epochs.Add(1)
}

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
}

func (m *mark) Unwrap() error { return m.error }

// Mark returns err, which failed in an epoch and is met under ctx; with a mark, if
// ctx belongs to an attempt that is younger.
func Mark(ctx context.Context, failed uint64, err error) error {
	if a, ok := ctx.Value(key{}).(*attempt); ok && failed <= a.epoch {
		return &mark{err, failed, a.epoch}
	}
	return err
}

// Strip returns err without the marks around it, and the epoch of the failure: now,
// if it has none.
func Strip(err error) (own error, epoch uint64) {
	m, ok := err.(*mark)
	if !ok {
		return err, Fail()
	}
	for {
		inner, ok := m.error.(*mark)
		if !ok {
			return m.error, m.failed
		}
		m = inner
	}
}

// Find looks for the mark of an attempt on the one chain of err: what is joined is
// undecided. It returns the epoch of the failure, or 0, and err without the mark
// where that is outermost.
func Find(err error, attempt uint64) (own error, failed uint64) {
	for e := err; e != nil && !isNil(e); {
		if m, ok := e.(*mark); ok && m.attempt == attempt {
			if e == err {
				return m.error, m.failed
			}
			return err, m.failed
		}
		e = errors.Unwrap(e)
	}
	return err, 0
}

// isNil reports whether err is a nil pointer, whose methods may not be called.
func isNil(err error) bool {
	v := reflect.ValueOf(err)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

package retry

import (
	"errors"
	"unsafe"
)

// Eager is implemented by results that stand for work which has already begun,
// such as futures. [Do] refuses to retry a function that returns one: the
// function would return at once, without an error, and what fails later would
// not be seen. The method does nothing.
type Eager interface{ EagerResult() }

// ErrEagerResult is what [Do] returns, before any call, where its result type is
// [Eager].
var ErrEagerResult = errors.New("retry: the operation returns an eager result, such as a future: its work runs once and cannot be retried; " +
	"write retry.Do around the function that does the work, and let it return the work's value")

// isEager reports whether T or *T is Eager. An interface type, and an Eager inside
// another type, are not seen.
func isEager[T any]() bool {
	var zero T
	if unsafe.Sizeof(zero) != unsafe.Sizeof(uintptr(0)) { // no pointer; in an interface it could be an allocation
		_, ok := any((*T)(nil)).(Eager)
		return ok
	}
	_, ok := any(zero).(Eager)
	return ok
}

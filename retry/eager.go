package retry

import "errors"

// Eager is implemented by results that stand for work which has already begun,
// such as futures. [Do] refuses to retry a function that returns one: the
// function would return at once, without an error, and what fails later would
// not be seen. The method does nothing.
type Eager interface{ EagerResult() }

// ErrEagerResult is what [Do] returns, before any call, where its result type is
// [Eager].
var ErrEagerResult error = eagerResult{errors.New("retry: the operation returns an eager result, such as a future: its work runs once and cannot be retried; " +
	"let the operation do the work and return its value (future.Retry starts it now, with retries)")}

// eagerResult is permanent: a run around the one that was refused is not to be retried.
type eagerResult struct{ error }

func (eagerResult) Permanent() bool { return true }

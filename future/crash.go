package future

import (
	"fmt"
	"runtime/debug"
)

// A PanicError is the error of work that panicked. It is permanent: package retry
// does not retry it.
type PanicError struct {
	Value any    // what the work panicked with
	Stack []byte // where, as [runtime/debug.Stack] has it
}

// Error returns the value and the stack.
func (e *PanicError) Error() string {
	return fmt.Sprintf("future: the work panicked: %v\n\n%s", e.Value, e.Stack)
}

// Unwrap returns the value, if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Permanent returns true: see [github.com/dacapo-go/dacapo/retry.Permanent].
func (e *PanicError) Permanent() bool { return true }

// ErrGoexit is the error of work that ended its goroutine with [runtime.Goexit], as
// t.FailNow does in a test. It is permanent, as a [PanicError] is.
var ErrGoexit error = goexit{}

type goexit struct{}

func (goexit) Error() string   { return "future: the work called runtime.Goexit" }
func (goexit) Permanent() bool { return true }

// guard calls fn. Where fn does not return, failed is told why, on the same
// goroutine: after a panic guard returns then; after Goexit the goroutine ends.
func guard(fn func(), failed func(error)) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if r := recover(); r != nil {
			failed(&PanicError{r, debug.Stack()})
		} else {
			failed(ErrGoexit)
		}
	}()
	fn()
	returned = true
}

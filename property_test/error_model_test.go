package property_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dacapo-go/dacapo/retry"
)

// tree describes an error of an operation; the model reads the description, the
// drivers get err, which is built from it once: identity is what is asserted.
type tree struct {
	kind string // see build
	of   []*tree
	hint time.Duration
	some bool // what RetryAfter of an asking error reports beside the hint
	err  error
}

var (
	errGone    = errors.New("gone")
	errFull    = errors.New("full")
	errsOfOld  = []error{errors.New("old 0"), errors.New("old 1")}
	leafErrors = map[string]error{
		"gone": errGone, "full": errFull, "old 0": errsOfOld[0], "old 1": errsOfOld[1],
		"cancelled": context.Canceled, "deadline": context.DeadlineExceeded, "attempt timeout": retry.ErrAttemptTimeout,
	}
)

type codeError struct{ code int }

func (e *codeError) Error() string { return fmt.Sprint("code ", e.code) }

type askingError struct {
	after time.Duration
	some  bool
}

func (e *askingError) Error() string { return fmt.Sprint("ask again after ", e.after) }

func (e *askingError) RetryAfter() (time.Duration, bool) { return e.after, e.some }

type finalError struct{ final bool }

func (e *finalError) Error() string { return fmt.Sprint("final: ", e.final) }

func (e *finalError) Permanent() bool { return e.final }

// leaf is the description of an error that is known by name.
func leaf(kind string) *tree { return (&tree{kind: kind}).build() }

// known describes an error that no tree made, such as the cause of a context.
func known(err error) *tree {
	for kind, e := range leafErrors {
		if e == err {
			return leaf(kind)
		}
	}
	return &tree{kind: "own", err: err}
}

func (n *tree) build() *tree {
	switch n.kind {
	case "own":
		n.err = errors.New("a failure")
	case "code":
		n.err = &codeError{7}
	case "asking":
		n.err = &askingError{n.hint, n.some}
	case "final":
		n.err = &finalError{n.some}
	case "permanent":
		n.err = retry.Permanent(n.of[0].err)
	case "after":
		n.err = retry.After(n.hint, n.of[0].err)
	case "wrap":
		n.err = fmt.Errorf("wrapped: %w", n.of[0].err)
	case "join":
		n.err = errors.Join(n.of[0].err, n.of[1].err)
	default:
		n.err = leafErrors[n.kind]
	}
	return n
}

// any reports whether a node of the tree is such.
func (n *tree) any(such func(*tree) bool) bool {
	if such(n) {
		return true
	}
	for _, kid := range n.of {
		if kid.any(such) {
			return true
		}
	}
	return false
}

func (n *tree) has(kinds ...string) bool {
	return n.any(func(n *tree) bool {
		for _, kind := range kinds {
			if n.kind == kind {
				return true
			}
		}
		return false
	})
}

func (n *tree) permanent() bool {
	return n.any(func(n *tree) bool { return n.kind == "permanent" || n.kind == "final" && n.some })
}

// asks is the greatest hint in the tree; 0 is none.
func (n *tree) asks() (greatest time.Duration) {
	n.any(func(n *tree) bool {
		if n.kind == "after" || n.kind == "asking" && n.some {
			greatest = max(greatest, n.hint)
		}
		return false
	})
	return greatest
}

// bare is what the caller gets: without the marks of package retry that are outermost.
func (n *tree) bare() *tree {
	for n.kind == "permanent" || n.kind == "after" {
		n = n.of[0]
	}
	return n
}

// pick describes a matcher or a predicate.
type pick string

var picks = []pick{"gone or full", "gone", "full", "code", "code by As", "old 0", "cancelled", "deadline"}

func (p pick) matcher() retry.Matcher {
	switch p {
	case "gone or full":
		return retry.Is(errGone, errFull)
	case "code":
		return retry.Match(isCode)
	case "code by As":
		return retry.As[*codeError]()
	}
	return retry.Is(leafErrors[string(p)])
}

func isCode(err error) bool {
	_, is := err.(*codeError)
	return is
}

func (p pick) matches(n *tree) bool {
	switch p {
	case "gone or full":
		return n.has("gone", "full")
	case "code by As":
		return n.has("code")
	case "deadline":
		return n.has("deadline", "attempt timeout") // it matches context.DeadlineExceeded, too
	}
	return n.has(string(p))
}

// The predicates of If look at the error itself.
var questions = map[string]func(error) bool{
	"is code":  isCode,
	"not code": func(err error) bool { return !isCode(err) },
	"not gone": func(err error) bool { return !errors.Is(err, errGone) },
	"yes":      func(error) bool { return true },
}

func says(question string, n *tree) bool {
	switch question {
	case "is code":
		return n.bare().kind == "code"
	case "not code":
		return n.bare().kind != "code"
	case "not gone":
		return !n.has("gone")
	}
	return true
}

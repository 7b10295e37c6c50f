package future

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/dacapo-go/dacapo/internal/eager"
)

// A Result is how work ended.
type Result[T any] struct {
	Value T
	Err   error // nil if and only if the work succeeded
}

// ErrNone is the error of [Any], [Race], [RunAny] and [RunRace] where nothing was
// given to them.
var ErrNone = errors.New("future: nothing to choose from: want at least one")

// All waits for all futures and returns their values, in the order in which they
// are given; or the first error in time, as soon as there is one. (Of those that have
// failed before the call, it is the first in the list.) Without futures it returns nil, nil.
//
// Where ctx ends first, the error matches ctx.Err(), the cause of ctx and [ErrGaveUp]. The
// error of a future that only repeats that ctx has ended comes within one that has the
// cause, too. All cancels nothing: what others started goes on. It panics if ctx or a
// future is nil.
func All[T any](ctx context.Context, fs ...*Future[T]) ([]T, error) {
	var values []T
	for i := range settledOf(ctx, fs) {
		v, err := fs[i].Await(ctx)
		if err != nil {
			return nil, unechoed(ctx, err)
		}
		if values == nil {
			values = make([]T, len(fs))
		}
		values[i] = v
	}
	if !allSettled(fs) {
		return nil, gaveUp(ctx)
	}
	return values, nil
}

// AllSettled waits for all futures, or the end of ctx, and returns their results in
// the order in which they are given. The error of a future that was still running
// when ctx ended is that of [Future.Await]. AllSettled cancels nothing. It panics if
// ctx or a future is nil.
func AllSettled[T any](ctx context.Context, fs ...*Future[T]) []Result[T] {
	results := make([]Result[T], len(fs))
	for range settledOf(ctx, fs) { // until all are
	}
	for i, f := range fs {
		v, err, ok := f.Result()
		if !ok {
			err = gaveUp(ctx)
		}
		results[i] = Result[T]{v, err}
	}
	return results
}

// Any waits for the first future that succeeds and returns its value. If all fail,
// it returns the error of the last to fail ([AllSettled] has them all); without futures,
// [ErrNone]. The end of ctx is as in All. Any cancels nothing. It panics if ctx or a future
// is nil.
func Any[T any](ctx context.Context, fs ...*Future[T]) (T, error) {
	var zero T
	last, allMarked := ErrNone, true
	for i := range settledOf(ctx, fs) {
		v, err := fs[i].Await(ctx)
		if err == nil {
			return v, nil
		}
		last, allMarked = err, allMarked && eager.IsMarked(err)
	}
	if !allSettled(fs) {
		return zero, gaveUp(ctx)
	}
	return zero, unechoed(ctx, eager.Choose(last, allMarked))
}

// Race waits for the first future that has a result, and returns that, value or
// error; without futures, [ErrNone]. The end of ctx is as in All. Race cancels nothing.
// It panics if ctx or a future is nil.
func Race[T any](ctx context.Context, fs ...*Future[T]) (T, error) {
	for i := range settledOf(ctx, fs) {
		v, err := fs[i].Await(ctx)
		return v, unechoed(ctx, err)
	}
	var zero T
	if len(fs) == 0 {
		return zero, ErrNone
	}
	return zero, gaveUp(ctx)
}

// Completed returns the futures' indices and results in the order of completion,
// those that are there already first. Where ctx ends, the futures that are still
// running follow in their order, each with the error of [Future.Await]. Every future
// comes once. Leaving the loop cancels nothing. The loop can be made many times, with the
// same ctx. Completed panics, at the call, if ctx or a future is nil.
func Completed[T any](ctx context.Context, fs ...*Future[T]) iter.Seq2[int, Result[T]] {
	settled := settledOf(ctx, fs)
	return func(yield func(int, Result[T]) bool) {
		came := make([]bool, len(fs))
		result := func(i int) Result[T] {
			came[i] = true
			v, err := fs[i].Await(ctx)
			return Result[T]{v, err}
		}
		for i := range settled {
			if !yield(i, result(i)) {
				return
			}
		}
		for i := range fs { // ctx has ended
			if !came[i] && !yield(i, result(i)) {
				return
			}
		}
	}
}

func allSettled[T any](fs []*Future[T]) bool {
	for _, f := range fs {
		if !f.isSettled() {
			return false
		}
	}
	return true
}

// settledOf returns the indices of the futures in the order in which they settle,
// until all have come or ctx has ended.
func settledOf[T any](ctx context.Context, fs []*Future[T]) iter.Seq[int] {
	check(ctx != nil, "future: nil ctx: want a context, such as context.Background()")
	for i, f := range fs {
		if f == nil {
			panic(fmt.Sprintf("future: future %d is nil: want futures, as future.Go returns them", i))
		}
	}
	return func(yield func(int) bool) {
		w := &watch{wake: make(chan struct{}, 1)}
		settles := make([]settling, len(fs))
		for i, f := range fs {
			settles[i] = settling{watch: w, index: i}
			f.after(nil, &settles[i].node, &settles[i])
		}
		defer func() {
			for i, f := range fs {
				f.forget(&settles[i].node)
			}
		}()
		for range fs {
			if i, ok := w.next(ctx); !ok || !yield(i) {
				return
			}
		}
	}
}

// A watch collects the indices of futures as they settle.
type watch struct {
	mu    sync.Mutex
	ready []int
	wake  chan struct{} // holds one token at most: there is something in ready
}

// settling is the task that puts one future's index into the watch.
type settling struct {
	node[task]
	watch *watch
	index int
}

func (s *settling) run(*work) {
	w := s.watch
	w.mu.Lock()
	w.ready = append(w.ready, s.index)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// next waits for the next index. It reports false if ctx ended before there was one.
func (w *watch) next(ctx context.Context) (int, bool) {
	for {
		if i, ok := w.pop(); ok {
			return i, true
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
			return w.pop()
		}
	}
}

func (w *watch) pop() (int, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.ready) == 0 {
		return 0, false
	}
	i := w.ready[0]
	w.ready = w.ready[1:]
	return i, true
}

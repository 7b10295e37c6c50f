package future

import "errors"

// Map returns the future of fn of f's value. If f fails, so does it, with the same
// error, and fn is not called.
//
// fn runs on the goroutine that settles f; if f has its result already, on the
// caller's, before Map returns. It must not block. Where it panics, the error is a
// [*PanicError]; where it calls runtime.Goexit it is [ErrGoexit], and that goroutine
// ends. Await of f does not wait for fn. Map starts nothing and cancels nothing. It
// panics if f or fn is nil.
func Map[T, U any](f *Future[T], fn func(T) (U, error)) *Future[U] {
	check(f != nil, "future.Map: nil future: want one, as future.Go returns it")
	check(fn != nil, "future.Map: nil fn: want a function")
	m := &mapped[T, U]{from: f, fn: fn}
	m.begin()
	f.after(nil, &m.node, m)
	return &m.Future
}

type mapped[T, U any] struct {
	Future[U]
	node[task]
	from *Future[T]
	fn   func(T) (U, error)
}

func (m *mapped[T, U]) run(w *work) {
	from, fn := m.from, m.fn
	m.from, m.fn = nil, nil // a chain does not keep what it has passed
	if m.inherits(w, &from.state) {
		return
	}
	guard(func() {
		v, err := fn(from.value)
		m.finish(w, v, err)
	}, func(err error) { m.fail(w, err) })
}

// inherits settles the future with the failure of another, if that has failed.
func (f *Future[T]) inherits(w *work, from *state) bool {
	if from.err == nil {
		return false
	}
	var zero T
	f.pass(w, zero, from)
	return true
}

// pass settles the future with v and the error of another, as old as it is there.
func (f *Future[T]) pass(w *work, v T, from *state) {
	then, _ := f.settle(v, from.err, from.failed)
	w.run(then)
}

// FlatMap returns the future of the future that fn makes of f's value: it has that
// one's result. If f fails, so does it, with the same error, and fn is not called. Where
// fn returns nil, or the very future that FlatMap returned, it fails and says so.
//
// fn runs as Map's does. FlatMap starts nothing and cancels nothing; what fn starts
// is fn's to cancel. FlatMap panics if f or fn is nil.
func FlatMap[T, U any](f *Future[T], fn func(T) *Future[U]) *Future[U] {
	check(f != nil, "future.FlatMap: nil future: want one, as future.Go returns it")
	check(fn != nil, "future.FlatMap: nil fn: want a function")
	m := &chained[T, U]{from: f, fn: fn}
	m.begin()
	f.after(nil, &m.node, m)
	return &m.Future
}

type chained[T, U any] struct {
	Future[U]
	node[task]
	from  *Future[T]
	fn    func(T) *Future[U]
	inner *Future[U]
}

var (
	errNilFuture = errors.New("future: the function given to FlatMap returned a nil future: return one of future.Go, future.Value or future.Failed")
	errOwnFuture = errors.New("future: the function given to FlatMap returned FlatMap's own future, which would wait for itself")
)

func (m *chained[T, U]) run(w *work) {
	from, fn := m.from, m.fn
	m.from, m.fn = nil, nil
	if m.inherits(w, &from.state) {
		return
	}
	guard(func() { m.inner = fn(from.value) }, func(err error) { m.fail(w, err) })
	switch {
	case m.isSettled(): // fn panicked
	case m.inner == nil:
		m.fail(w, errNilFuture)
	case m.inner == &m.Future:
		m.fail(w, errOwnFuture)
	default:
		m.inner.after(w, &m.node, (*arrived[T, U])(m))
	}
}

// arrived is chained once there is the inner future.
type arrived[T, U any] chained[T, U]

func (m *arrived[T, U]) run(w *work) {
	inner := m.inner
	m.inner = nil
	m.pass(w, inner.value, &inner.state)
}

// Recover returns a future that has f's value if f succeeds, and what fn makes of
// the error if it fails: another value, or another error.
//
// fn runs as Map's does. An error that it returns is a new one, as old as fn's return: a
// retry that awaits it is not stopped for StaleFuture, even if it is f's error again.
// Recover starts nothing and cancels nothing. It panics if f or fn is nil.
func Recover[T any](f *Future[T], fn func(error) (T, error)) *Future[T] {
	check(f != nil, "future.Recover: nil future: want one, as future.Go returns it")
	check(fn != nil, "future.Recover: nil fn: want a function")
	m := &recovered[T]{from: f, fn: fn}
	m.begin()
	f.after(nil, &m.node, m)
	return &m.Future
}

type recovered[T any] struct {
	Future[T]
	node[task]
	from *Future[T]
	fn   func(error) (T, error)
}

func (m *recovered[T]) run(w *work) {
	from, fn := m.from, m.fn
	m.from, m.fn = nil, nil
	if from.err == nil {
		m.pass(w, from.value, &from.state)
		return
	}
	guard(func() {
		v, err := fn(from.err)
		m.finish(w, v, err)
	}, func(err error) { m.fail(w, err) })
}

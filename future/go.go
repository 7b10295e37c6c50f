package future

import "context"

// Go starts op on a goroutine of its own and returns the future of what it returns.
// op runs exactly once, with ctx, through which it is cancelled. It runs also where ctx
// has ended already.
//
// Where op panics, the error is a [*PanicError]; where it ends its goroutine, it is
// [ErrGoexit]. A panic in a future that nobody awaits is not reported: await every future.
// The goroutine ends when op has returned and what was derived from the future ([Map] and
// its like) has run, whether or not anyone waits. Go panics if ctx or op is nil.
func Go[T any](ctx context.Context, op func(context.Context) (T, error)) *Future[T] {
	checkOp(ctx, "future.Go", op == nil)
	f := new(Future[T])
	f.begin()
	go f.work(ctx, op)
	return f
}

// work does the future's work.
func (f *Future[T]) work(ctx context.Context, op func(context.Context) (T, error)) {
	guard(func() {
		v, err := op(ctx)
		f.finish(nil, v, err)
	}, func(err error) { f.fail(nil, err) })
}

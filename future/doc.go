// Package future is for work that has started: each result is there now, or will be,
// and the work behind it ran exactly once.
//
//	user := future.Go(ctx, func(ctx context.Context) (User, error) { return client.User(ctx, id) })
//	cart := future.Go(ctx, func(ctx context.Context) (Cart, error) { return client.Cart(ctx, id) })
//	u, err := user.Await(ctx)
//	c, cartErr := cart.Await(ctx)
//
// # The law
//
// Work that has run is done; work that can run again can be retried. A [Future] ran
// once, and nothing retries it. Put the retries inside, where the work can run again:
// [Retry] is retry.Do as a future, and holds no goroutine while it waits. retry.Do
// refuses a function that returns a future, and ends a run (retry.StaleFuture) that
// awaits a future which had failed before.
//
// # Which one
//
//   - [Go] starts a function, [Retry] one with retries, [Hedge] one that is started
//     again while it is slow (after a time that a [Quantile] has learned, say).
//   - [New] returns a future with the [Promise] that settles it, for callbacks; [Value]
//     and [Failed] are settled from the start.
//   - [Map], [FlatMap] and [Recover] derive a future from another.
//   - [All], [AllSettled], [Any], [Race] and [Completed] wait for futures.
//   - [RunAll], [RunAny] and [RunRace] run functions and wait for them, a number at a
//     time; a [Group] runs functions that are not all known at once.
//   - [Memo] runs a function when its value is first wanted, for all who want it.
//
// # Who ends what
//
// What a function of this package started, it cancels and waits for: RunAll, RunAny,
// RunRace, Group, Hedge. What it was given, it leaves alone: Await, Map, FlatMap,
// Recover, All, AllSettled, Any, Race, Completed. Go and Retry are cancelled through
// their context, and a Memo's function when nobody waits for it any more.
//
// # Panics
//
// A panic in work does not end the program: it is the work's error, a [*PanicError] with
// the value and the stack, and is not retried. runtime.Goexit is [ErrGoexit]. Neither
// keeps others from their results.
//
// # Tests
//
// Everything works inside a testing/synctest bubble, for futures that are made, awaited
// and settled in it. (A run that waits holds no goroutine: a bubble that ends before it is
// not told.) No goroutine outlives the function it runs, whether or not anyone waits.
package future

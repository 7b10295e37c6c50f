// Package retry runs a function again when it fails, as a policy says.
//
//	user, err := retry.Do(ctx, retry.New().MaxRetries(5), func(ctx context.Context) (User, error) {
//		return client.User(ctx, id)
//	})
//
// # The law
//
// Work that has run is done; work that can run again can be retried. What is
// retried here is a function, never its result: a result that stands for work
// already begun, such as a future, is refused before the first call (see
// [Eager]), and a run whose function awaits a future that had failed before ends
// ([StaleFuture]). To start a function now, with retries, and wait later, use Retry of
// package future.
//
// # Which one
//
//   - [Do] calls a function that returns a value and an error, [Run] one that
//     returns only an error. Most callers should use Do with [Standard], and need
//     no more.
//   - [Attempts] is the same as a loop, for code that cannot be a function.
//   - [Policy] says whether and when: start from [Standard], which spreads the
//     clients of a shared service, or from [New], which waits 1s, and refine it from
//     left to right. [Parse] reads one from text: a flag, JSON, YAML, the environment.
//   - [Policy.Events] tells every step to a hook, of which [Log] is one ready made.
//     [Policy.WorstCase] says how many calls and how long a wait to expect.
//   - [Policy.Limit] has a limiter that many runs share refuse retries that are too many:
//     a budget of package retry/budget, for everything that goes to a service.
//   - [Policy.Next] is the decision alone, without a loop, a clock or randomness:
//     for a scheduler, a queue or a simulation of one's own.
//   - [Permanent] marks an error that no retry can help; [After] one that says
//     when to come back, which [Policy.Hints] limits.
//
// # What is retried
//
// Every error, unless it is Permanent, [Policy.Except] matches it, [Policy.On]
// was given and does not match it, or a [Policy.If] says no. Matchers are [Is],
// [As] and [Match]; they look at everything that an error wraps or joins. A
// context.Canceled from the operation is an ordinary error while the run's own
// context lives. A panic is not an error: it passes through. An error of one's own is
// permanent with a method Permanent() bool.
//
// # What the caller gets
//
// What the last call returned. If that was an error, it is the very same (but for
// a mark of [Permanent] or [After] around it, which is taken off), so
// that == and errors.Is work as if there had been no retry. Only where the
// context ended the run, or [Policy.WrapErrors] asks for it, is the error an
// [*Error], which matches the last error, the context's error and its cause, and
// says why the run ended, after how many calls and how long. The errors that were
// overcome do not match; [Error.Earlier] has them.
//
// # Time
//
// A wait is over when its time has come or the context ends, whichever is first.
// A run whose next wait would reach the context's deadline ends at once instead
// of waiting in vain; [Policy.MaxElapsed] is a budget looked at between calls,
// and [Policy.AttemptTimeout] is what interrupts a call. There is no wait after
// the last call. The clock is read only where one of them, [Policy.Events] or
// [Policy.WrapErrors] needs it.
//
// # Tests
//
// Everything works inside a testing/synctest bubble, where waits take no time
// and are exact.
package retry

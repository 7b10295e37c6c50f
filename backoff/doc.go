// Package backoff says how long to wait before the next call, as pure values.
//
// A [Strategy] is a curve ([Constant], [Linear], [Exponential], [Fibonacci],
// [Decorrelated], [List], [Func], or two of them joined by [Strategy.Then]),
// refined by a cap, a floor and at most one jitter:
//
//	backoff.Exponential(100*time.Millisecond, 2).Cap(5 * time.Second).FullJitter()
//
// It holds no clock, lock, goroutine or random source. [Strategy.Delay] takes
// the random word as an argument, so that a schedule can be replayed, proved,
// and computed on another machine; [Strategy.Bounds] says what Delay can give.
//
// # The law
//
// For every strategy s, retry n, earlier wait prev and random word u:
//
//	lo, hi := s.Bounds(n)
//	lo <= s.Delay(n, prev, u) && s.Delay(n, prev, u) < hi // or == lo where lo == hi
//
// Cap, floor and jitter are one window: what is clipped is the window, never
// the drawn value. So no wait passes the cap, and a jittered wait at the cap is
// still spread below it instead of being piled up on it.
//
// # Which jitter
//
// With e the curve's value, already held to the cap, and e/2 and the like
// rounded to whole nanoseconds inside the window:
//
//	jitter                      window                    mean       use
//	none                        e                         e          one client, tests
//	[Strategy.FullJitter]         [0, e)                    e/2        many clients: most spread for the wait
//	[Strategy.EqualJitter]        [e/2, e)                  3e/4       spread, but never less than half
//	[Strategy.ProportionalJitter] [e(1-f), e(1+f))          e          keep the schedule, break up the herd
//	[Strategy.AdditiveJitter]     [e, e+d)                  e + d/2    never earlier than asked
//	[Strategy.SpringJitter]       [max(e-j, min(first, e)), e+j), j = d*e/first   as Spring Framework 7 does it
//	[Decorrelated]                [first, 3*previous wait)  a random walk up to the cap
//
// Windows are clipped to the cap; AdditiveJitter's is moved down whole. Most
// callers want Exponential with a Cap and FullJitter.
//
// # Faults
//
// Refinements store and do not judge; [Strategy.Err] names every fault at once.
// A faulty strategy waits for nothing, and a retry policy that holds one makes
// no call.
package backoff

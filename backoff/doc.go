// Package backoff says how long to wait before the next call, as pure values.
//
// A [Strategy] is a curve ([Constant], [Linear], [Exponential], [Fibonacci],
// [Decorrelated], [List], [Func], or two of them joined by [Strategy.Then]),
// refined by a cap, a floor and at most one jitter:
//
//	backoff.Exponential(100*time.Millisecond, 2).Cap(5 * time.Second).FullJitter()
//
// Most callers want just that: an exponential curve, a cap, and full jitter.
//
// A Strategy holds no clock, lock, goroutine or random source. [Strategy.Delay]
// takes the random word as an argument, so that a schedule can be replayed,
// proved, and computed on another machine; [Strategy.Bounds] says what Delay can
// give, [Strategy.Total] what the waits can add up to.
//
// # The law
//
// For every strategy s, retry n, earlier wait prev and random word u:
//
//	lo, hi := s.Bounds(n)
//	d := s.Delay(n, prev, u)
//	lo <= d && (d < hi || lo == hi)
//
// Cap, floor and jitter are one window: what is clipped is the window, never
// the drawn value. So no wait passes the cap, and a jittered wait at the cap is
// still spread below it instead of being piled up on it.
//
// # Which curve
//
//	curve              waits
//	Constant(d)        d, d, d, …
//	Linear(d, step)    d, d+step, d+2·step, …
//	Exponential(d, f)  d, d·f, d·f², …
//	Fibonacci(d)       d, d, 2d, 3d, 5d, …
//	Decorrelated(d)    drawn from [d, 3·the wait before): random as it is
//	List(d…)           the given waits, the last repeated
//	Func(span)         a window of your own
//	s.Then(n, next)    the first n waits of one, then another
//
// # Which jitter
//
// With e the curve's value, already held to the cap, rounded to whole
// nanoseconds inside the window:
//
//	jitter                 window                          mean              use
//	none                   e                               e                 one client, tests
//	FullJitter()           [0, e)                          e/2               many clients: most spread for the wait
//	EqualJitter()          [e/2, e)                        3e/4              spread, but never less than half
//	ProportionalJitter(f)  [e-ef, e+ef)                    e                 keep the schedule, break up the herd
//	AdditiveJitter(d)      [e, e+d)                        e + d/2           not earlier than asked
//	SpringJitter(d)        [max(e-j, min(first, e)), e+j)  e; e + j/2 at e = first   as Spring does; j = d·e/first
//
// Windows are clipped to the cap, where the mean is lower; AdditiveJitter's is
// moved down whole.
//
// # Text
//
// A strategy is read from and written as text, in flags, JSON, YAML and
// environment variables, by [Parse] and the methods that [encoding.TextMarshaler]
// and [encoding.TextUnmarshaler] name:
//
//	exp(100ms,2).cap(5s).jitter(full)
//
// # Faults
//
// Refinements store and do not judge; [Strategy.Err] names every fault at once.
// A faulty strategy waits for nothing, and a retry policy that holds one makes
// no call.
package backoff

package retry

// Reason says why a run ended. The zero Reason means that it goes on.
type Reason uint8

// The reasons, in the order in which they are tested after a call, but for the
// last three, which a driver adds. README and DESIGN.md give the whole table.
const (
	_                   Reason = iota
	Succeeded                  // the operation returned a nil error
	Refused                    // no call was made: the policy has a fault, or the result is eager
	Cancelled                  // the context ended, before a call, during one or in a wait
	StaleFuture                // the operation awaits a future that had failed before: it cannot run again
	NotRetryable               // a Permanent error, or one that On, Except or If does not let through
	TimeSpent                  // MaxElapsed had passed when the call ended
	Exhausted                  // MaxRetries were made
	HintTooLong                // the error asked for a longer wait than Hints allows
	TimeWouldExceed            // the next wait would reach MaxElapsed
	DeadlineWouldExceed        // the next wait would reach the context's deadline
	Throttled                  // a limiter shared with other runs refused the retry
	Abandoned                  // the loop over Attempts was left
	Partial                    // a stream had delivered elements, and its mode does not repeat them
)

// String returns the reason in words, such as "not retryable".
func (r Reason) String() string {
	return [...]string{
		"going on", "succeeded", "refused", "cancelled", "stale future", "not retryable", "time spent", "exhausted",
		"hint too long", "time would be exceeded", "deadline would be exceeded", "throttled", "abandoned", "partial",
	}[r]
}

package retry

import "fmt"

// Reason says why a run ended. The zero Reason means that it goes on.
type Reason uint8

// The reasons. [Policy.Next] says in which order they are tested after a call;
// the last three are not its own.
const (
	_                   Reason = iota
	Succeeded                  // the operation returned a nil error
	Refused                    // no call was made: the policy has a fault, or the result is eager
	Cancelled                  // the context ended, before a call, during one or in a wait
	StaleFuture                // the call failed with what a future had failed with before it: see package future
	NotRetryable               // a Permanent error, or one that On, Except or If does not let through
	TimeSpent                  // MaxElapsed had passed when the call ended
	Exhausted                  // MaxRetries were made, or as many as the reset of a stream allows
	HintTooLong                // the error asked for a longer wait than Hints allows
	TimeWouldExceed            // the next wait would reach MaxElapsed
	DeadlineWouldExceed        // the next wait would reach the context's deadline
	Throttled                  // a limiter shared with other runs refused the retry
	Abandoned                  // the loop over Attempts was left, or a stream whose clean-up then failed
	Partial                    // a stream had delivered elements, and its mode does not repeat them
)

// String returns the reason in words, such as "not retryable".
func (r Reason) String() string {
	return word(
		r, "Reason", "going on", "succeeded", "refused", "cancelled", "stale future", "not retryable", "time spent", "exhausted",
		"hint too long", "time would be exceeded", "deadline would be exceeded", "throttled", "abandoned", "partial",
	)
}

// word returns the word for n, or its number where there is none.
func word[N ~uint8](n N, name string, words ...string) string {
	if int(n) < len(words) && words[n] != "" {
		return words[n]
	}
	return fmt.Sprintf("%s(%d)", name, n)
}

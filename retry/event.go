package retry

import "time"

// Kind says what an [Event] reports.
type Kind uint8

// The kinds of events. In every run Started comes once a call and Failed once a
// failed call; Scheduled comes once a retry, and once more where the run ended
// between the decision to retry and the retry; Finished comes once, last, unless
// the operation, a predicate or a hook panicked or called runtime.Goexit.
const (
	_         Kind = iota
	Started        // a call is about to be made
	Failed         // a call returned an error
	Scheduled      // a retry will follow, after Delay (which can be 0)
	Finished       // the run has ended, for Reason
)

// String returns the kind as a word, such as "scheduled".
func (k Kind) String() string {
	return word(k, "Kind", "", "started", "failed", "scheduled", "finished")
}

// Source says where a wait came from.
type Source uint8

// The sources of a wait.
const (
	FromBackoff Source = iota // the policy's strategy
	FromHint                  // a hint in the error, longer than the strategy's wait
)

// String returns the source as a word.
func (s Source) String() string { return word(s, "Source", "backoff", "hint") }

// An Event reports one step of a run to the hooks of [Policy.Events].
type Event struct {
	Kind    Kind
	Call    int           // the number of the call, from 1; in Scheduled of the one that failed, in Finished of the last (0: none was made)
	Err     error         // Failed, Scheduled: what the call returned, without a mark of ours around it; Finished: what the caller gets
	Delay   time.Duration // Scheduled: the wait before the next call
	Source  Source        // Scheduled: where Delay comes from
	Reason  Reason        // Finished: why
	Elapsed time.Duration // since the run began
}

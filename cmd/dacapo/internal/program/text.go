package program

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/show"
	"github.com/dacapo-go/dacapo/retry"
)

// text tells people of a run, in a line for each retry and one for the end without success.
// What is our own fault is said elsewhere.
func (r *runner) text(ctx context.Context, e retry.Event) {
	what := "no attempt was made"
	if f, ok := errors.AsType[*Failure](e.Err); ok {
		what = f.What
	}
	switch {
	case e.Kind == retry.Scheduled:
		hint := ""
		if e.Source == retry.FromHint {
			hint = ", as it asks"
		}
		r.say("attempt %d: %s; retry %s in %s%s", e.Call, what, r.ordinal(e.Call), show.Duration(e.Delay), hint)
	case e.Kind == retry.Finished && e.Reason != retry.Succeeded && r.lost == nil:
		r.say("attempt %d: %s; %s, after %s", e.Call, what, r.why(ctx, e.Reason), show.Duration(e.Elapsed))
	}
}

func (r *runner) say(format string, args ...any) {
	fmt.Fprintf(r.Stderr, "dacapo: "+format+"\n", args...)
}

// ordinal is the number of a retry, and of how many.
func (r *runner) ordinal(n int) string {
	calls, _ := r.Policy.WorstCase()
	if calls == retry.Unlimited {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d of %d", n, calls-1)
}

func (r *runner) why(ctx context.Context, reason retry.Reason) string {
	switch reason {
	case retry.Exhausted:
		return "no retry is left"
	case retry.NotRetryable:
		return "not to be retried"
	case retry.TimeSpent, retry.TimeWouldExceed:
		return "max-elapsed leaves no time for a retry"
	case retry.DeadlineWouldExceed:
		return "--timeout leaves no time for a retry"
	case retry.HintTooLong:
		return "it asks to wait for longer than the policy's hints may"
	case retry.Cancelled:
		return context.Cause(ctx).Error()
	}
	return reason.String()
}

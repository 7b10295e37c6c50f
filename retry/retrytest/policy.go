package retrytest

import (
	"fmt"
	"math"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
)

// CheckPolicy fails the test unless p keeps the laws of a policy. errs are errors of your
// own that p is to retry: a policy with On or If needs one at least, for else nothing is
// retried and there is nothing to see.
//
//	law                                      broken where
//	no fault                                 p.Err() returns an error
//	total                                    a predicate, a Func or Rand panics
//	pure                                     one failure gets two decisions: when asked again, in another order, by several goroutines, at another time
//	retries its errors                       one of errs is not retried after the first call, or nothing is that was tried
//	whole random words                       a bit of the words from Rand never changes, as in those of rand.Uint32
//	a success ends the run                   a retry follows a call without an error
//	nothing follows the end of the context   a retry follows it
//	nothing follows a stale failure          a retry follows the failure of a future that had failed before
//	Permanent ends the run                   a retry follows a Permanent error
//	a decision is one thing                  it says to retry and why not, or to stop and to wait
//	no more calls than WorstCase             a retry follows the last of them
//	waits in their bounds                    a wait is shorter than with Draw = 0, or longer than WorstCase has it
//	a hint only lengthens                    a wait is shorter than what was drawn, or longer than the hint and what was drawn above the least
//	no wait reaches MaxElapsed               Elapsed + Wait does
//	no wait reaches the deadline             Wait is not below Left
//	no longer waits than WorstCase           the waits of a run are longer, in all
//
// The predicates, a Func and the random source are p's own, and can break the first five; the
// others hold for every policy of package retry, and are looked at with yours. (A Rand that is
// fixed for a test has no whole words: check the policy without it.) Hooks are called only
// where p has a Rand.
//
// CheckPolicy is not for use in a bubble: with a *testing.T or *rapid.T it makes one, for the
// other times.
func CheckPolicy(t rapid.TB, p retry.Policy, errs ...error) {
	t.Helper()
	broken := func(broken string) bool {
		t.Helper()
		if broken != "" {
			t.Errorf("retrytest: %s (policy %v)", broken, p)
		}
		return broken != ""
	}
	if p.Err() != nil {
		broken(`law "no fault": ` + p.Err().Error())
		return
	}
	c := claimed(p, errs)
	s := c.subject()
	found, answers := s.search()
	if broken(found) {
		return
	}
	inBubble(t, func() { found = s.later(answers) })
	if broken(found) || broken(c.retries()) || broken(c.whole()) || broken(randomness(p, c)) {
		return
	}
	s.draw(t)
}

// claims are a policy and what it says of itself.
type claims struct {
	next       func(retry.Failure) retry.Decision
	worst      func() (calls int, wait time.Duration)
	calls      int
	maxElapsed time.Duration           // the longest Duration where there is none
	most       func(int) time.Duration // the greatest wait before retry n; the longest Duration where that is not known
	errs       []error                 // that are to be retried
}

const longest = time.Duration(math.MaxInt64)

func claimed(p retry.Policy, errs []error) *claims {
	c := &claims{next: p.Next, worst: p.WorstCase, errs: errs}
	c.calls, _ = p.Backoff(backoff.Strategy{}).WorstCase()
	_, c.maxElapsed = p.MaxRetries(retry.Unlimited).Backoff(backoff.Constant(longest)).WorstCase()
	free := p.MaxElapsed(longest)
	c.most = func(n int) time.Duration {
		_, before := free.MaxRetries(n - 1).WorstCase()
		_, all := free.MaxRetries(n).WorstCase()
		if all == longest {
			return longest
		}
		return all - before
	}
	return c
}

// failure is a question to a policy.
type failure struct {
	retry.Failure
	tried
}

// decision is what a policy says to it.
type decision struct {
	retry.Decision
	panicked string
}

func (c *claims) ask(f failure) (d decision) {
	if how := try(func() { d.Decision = c.next(f.Failure) }); how != "" {
		d.panicked = fmt.Sprintf("%v %s", f, how)
	}
	return d
}

// least is the decision for the least random word.
func (c *claims) least(f failure) retry.Decision {
	f.Draw = 0
	return c.ask(f).Decision
}

func (c *claims) subject() *subject[failure, decision] {
	return &subject[failure, decision]{
		questions: c.failures(), more: c.anyFailure(), laws: c.laws(), ask: c.ask,
		differ: func(f failure, a, b decision) string { return fmt.Sprintf("%v says %v, and then %v", f, a, b) },
	}
}

func (d decision) crash() string { return d.panicked }

func (d decision) String() string {
	switch {
	case d.panicked != "":
		return d.panicked
	case d.Retry:
		return fmt.Sprintf("retry after %v", d.Wait)
	default:
		return fmt.Sprintf("stop (%v)", d.Reason)
	}
}

// String returns the failure in words, without what is zero in it.
func (f failure) String() string {
	var words []string
	add := func(given bool, format string, value ...any) {
		if given {
			words = append(words, fmt.Sprintf(format, value...))
		}
	}
	add(f.Err != nil, "Err: %T %q", f.Err, f.Err)
	add(f.Retries != 0, "Retries: %d", f.Retries)
	add(f.Prev != 0, "Prev: %v", f.Prev)
	add(f.Elapsed != 0, "Elapsed: %v", f.Elapsed)
	add(f.Left != 0, "Left: %v", f.Left)
	add(f.Deadline, "Deadline: true")
	add(f.Ended, "Ended: true")
	add(f.Stale, "Stale: true")
	add(f.Draw != 0, "Draw: %#x", f.Draw)
	return "Next(Failure{" + strings.Join(words, ", ") + "})"
}

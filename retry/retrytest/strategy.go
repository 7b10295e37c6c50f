package retrytest

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"pgregory.net/rapid"
)

// Strategy is what [CheckStrategy] checks: a [github.com/dacapo-go/dacapo/backoff.Strategy],
// or anything of your own that says how long to wait in the same terms.
type Strategy interface {
	Delay(n int, prev time.Duration, u uint64) time.Duration
	Bounds(n int) (lo, hi time.Duration)
}

// CheckStrategy fails the test unless s keeps the laws of a strategy:
//
//	law                            broken where
//	no fault                       s has a method Err, and it returns an error
//	total                          Delay or Bounds panics
//	pure                           the same arguments get another answer: when asked again, in another order, or by several goroutines
//	bounds in order                Bounds is not 0 <= lo <= hi
//	never negative                 Delay < 0
//	never below its bounds         Delay < lo
//	never above its bounds         Delay >= hi, or Delay > lo where lo == hi
//	u = 0 gives the lower bound    Delay(n, prev, 0) is not lo: what is drawn on top of a hint is counted from there
//
// n is 1 to a million, and prev a wait that s can have given before: 0 for n = 1, else a
// wait inside Bounds(n-1). That waits never fall is no law, nor that the greatest u gives
// hi - 1ns, for that is not so of every honest strategy. See the package's documentation
// for how the law is looked for, and what t is.
func CheckStrategy(t rapid.TB, s Strategy) {
	t.Helper()
	checkStrategy(t, s, strategyLaws)
}

// CheckCapped is [CheckStrategy] with one law more:
//
//	never above its cap            Delay > max, or the hi of Bounds is
func CheckCapped(t rapid.TB, s Strategy, max time.Duration) {
	t.Helper()
	capped := law[question, wait]{"never above its cap", func(q question, a wait) string {
		switch {
		case a.d > max:
			return fmt.Sprintf("%v = %v, but the cap is %v", q, a.d, max)
		case a.hi > max:
			return fmt.Sprintf("Bounds(%d) = %v, but the cap is %v", q.n, a.bounds(), max)
		}
		return ""
	}}
	checkStrategy(t, s, append(strategyLaws[:len(strategyLaws):len(strategyLaws)], capped))
}

func checkStrategy(t rapid.TB, s Strategy, laws []law[question, wait]) {
	t.Helper()
	if s, ok := s.(interface{ Err() error }); ok && s.Err() != nil {
		t.Errorf("retrytest: %s", broken("no fault", s.Err().Error()))
		return
	}
	all := &subject[question, wait]{
		questions: questions(s), more: anyQuestion(s), laws: laws, differ: differ,
		ask: func(q question) wait { return ask(s, q) },
	}
	if broken, _ := all.search(); broken != "" {
		t.Errorf("retrytest: %s", broken)
		return
	}
	all.draw(t)
}

// question is the arguments of Delay.
type question struct {
	n    int
	prev time.Duration
	u    uint64
}

func (q question) String() string {
	return fmt.Sprintf("Delay(n=%d, prev=%v, u=%#x)", q.n, q.prev, q.u)
}

// wait is what a strategy says to a question.
type wait struct {
	lo, hi, d time.Duration
	panicked  string
}

func ask(s Strategy, q question) (a wait) {
	if how := try(func() { a.lo, a.hi = s.Bounds(q.n) }); how != "" {
		a.panicked = fmt.Sprintf("Bounds(%d) %s", q.n, how)
	} else if how := try(func() { a.d = s.Delay(q.n, q.prev, q.u) }); how != "" {
		a.panicked = fmt.Sprintf("%v %s", q, how)
	}
	return a
}

func (a wait) crash() string { return a.panicked }

func (a wait) bounds() string {
	if a.lo == a.hi {
		return fmt.Sprintf("[%v, %v]", a.lo, a.hi)
	}
	return fmt.Sprintf("[%v, %v)", a.lo, a.hi)
}

// against says that the wait is not what the bounds promise.
func (a wait) against(q question) string {
	return fmt.Sprintf("%v = %v, but Bounds(%d) = %v", q, a.d, q.n, a.bounds())
}

func differ(q question, a, b wait) string {
	switch {
	case a.panicked != b.panicked:
		return fmt.Sprintf("%v = %v, and then %s", q, a.d, b.panicked)
	case a.d != b.d:
		return fmt.Sprintf("%v = %v, and then %v", q, a.d, b.d)
	default:
		return fmt.Sprintf("Bounds(%d) = %v, and then %v", q.n, a.bounds(), b.bounds())
	}
}

// strategyLaws stand in the order in which they are asked: what a law says, those below it
// take for granted.
var strategyLaws = []law[question, wait]{
	{"bounds in order", func(q question, a wait) string {
		if 0 <= a.lo && a.lo <= a.hi {
			return ""
		}
		return fmt.Sprintf("Bounds(%d) = %v, want 0 <= lo <= hi", q.n, a.bounds())
	}},
	{"never negative", func(q question, a wait) string {
		if a.d >= 0 {
			return ""
		}
		return fmt.Sprintf("%v = %v", q, a.d)
	}},
	{"never below its bounds", func(q question, a wait) string {
		if a.d >= a.lo {
			return ""
		}
		return a.against(q)
	}},
	{"never above its bounds", func(q question, a wait) string {
		if a.d < a.hi || a.d == a.lo {
			return ""
		}
		return a.against(q)
	}},
	{"u = 0 gives the lower bound", func(q question, a wait) string {
		if q.u != 0 || a.d == a.lo {
			return ""
		}
		return a.against(q)
	}},
}

const (
	dense    = 64        // up to here every n is asked: a wait that doubles from 1ns has left int64 by then
	greatest = 1_000_000 // n; a strategy may well count up to it
)

// questions lists questions to s from the smallest to the greatest.
func questions(s Strategy) (all []question) {
	ns := []int{dense + 1, 92, 93, 100, 127, 128, 255, 256, 1000, 1 << 16, greatest}
	for n := dense; n >= 1; n-- {
		ns = append([]int{n}, ns...)
	}
	for _, n := range ns {
		for _, prev := range []uint64{0, 1 << 63, math.MaxUint64} {
			before := earlier(s, n, prev)
			if k := len(all); k > 0 && all[k-1].n == n && all[k-1].prev == before {
				continue
			}
			for _, u := range []uint64{0, 1, 1 << 32, 1 << 62, 1 << 63, 3 << 62, math.MaxUint64} {
				all = append(all, question{n, before, u})
			}
		}
	}
	return all
}

// earlier returns a wait that s can have given before retry n, from the least (u = 0) to
// the greatest.
func earlier(s Strategy, n int, u uint64) time.Duration {
	if n == 1 {
		return 0
	}
	var lo, hi time.Duration
	_ = try(func() { lo, hi = s.Bounds(n - 1) }) // a panic is found where it is looked for
	width, _ := bits.Mul64(u, uint64(max(hi-lo, 0)))
	return max(lo+time.Duration(width), 0)
}

func anyQuestion(s Strategy) *rapid.Generator[question] {
	return rapid.Custom(func(t *rapid.T) question {
		n := rapid.IntRange(1, greatest).Draw(t, "n")
		return question{n, earlier(s, n, rapid.Uint64().Draw(t, "prev")), rapid.Uint64().Draw(t, "u")}
	})
}

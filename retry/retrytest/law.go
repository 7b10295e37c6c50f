package retrytest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// A law is a sentence that holds for every question and its answer.
type law[Q, A any] struct {
	name   string
	broken func(Q, A) string // how, in words; "" where it holds
}

// An answer can be that what was asked panicked.
type answer interface {
	comparable
	crash() string // in words; "" where it did not
}

// A subject is what laws are held against: it can be asked a question, and asked again.
type subject[Q any, A answer] struct {
	questions []Q // from the smallest to the greatest
	more      *rapid.Generator[Q]
	ask       func(Q) A // recovers what panics
	laws      []law[Q, A]
	differ    func(q Q, a, b A) string // two answers to one question, in words
}

// search returns the first law that is broken, with the smallest question that breaks it,
// and the answers.
func (s *subject[Q, A]) search() (string, []A) {
	answers := make([]A, len(s.questions))
	for i, q := range s.questions {
		var broken string
		if answers[i], broken = s.look(q); broken != "" {
			return broken, nil
		}
	}
	if other := s.again(answers, len(answers)-1, -1, "when asked in another order"); other.how != "" {
		return other.how, nil
	}
	return s.together(answers).how, answers
}

// look asks one question twice.
func (s *subject[Q, A]) look(q Q) (A, string) {
	a := s.ask(q)
	if how := a.crash(); how != "" {
		return a, broken("total", how)
	}
	if how := s.compare(q, a, s.ask(q), "when asked again"); how != "" {
		return a, how
	}
	for _, l := range s.laws {
		if how := l.broken(q, a); how != "" {
			return a, broken(l.name, how)
		}
	}
	return a, ""
}

func broken(law, how string) string { return fmt.Sprintf("law %q: %s", law, how) }

func (s *subject[Q, A]) compare(q Q, a, b A, when string) string {
	if a == b {
		return ""
	}
	return broken("pure", s.differ(q, a, b)+" "+when)
}

// other is an answer that is not what it was: to which question, and how.
type other struct {
	i   int
	how string
}

// again asks all questions once more, in steps from one on and round, and says which was the
// smallest to have another answer.
func (s *subject[Q, A]) again(answers []A, from, step int, when string) (smallest other) {
	n := len(answers)
	for k := range answers {
		i := ((from+k*step)%n + n) % n
		how := s.compare(s.questions[i], answers[i], s.ask(s.questions[i]), when)
		if how != "" && (smallest.how == "" || i < smallest.i) {
			smallest = other{i, how}
		}
	}
	return smallest
}

// together asks all questions on several goroutines at once, each of which is elsewhere in them.
func (s *subject[Q, A]) together(answers []A) (smallest other) {
	var found [4]other
	var all sync.WaitGroup
	for g := range found {
		all.Go(func() {
			found[g] = s.again(answers, g*len(answers)/len(found), 1-2*(g%2), "when several goroutines ask")
		})
	}
	all.Wait()
	for _, o := range found {
		if o.how != "" && (smallest.how == "" || o.i < smallest.i) {
			smallest = o
		}
	}
	return smallest
}

// later asks all questions at other times, the last of which is a lifetime from now. (A bubble
// begins in the year 2000.)
func (s *subject[Q, A]) later(answers []A) string {
	const when = "at another time of the day or the year"
	for range 24 {
		if other := s.again(answers, 0, 1, when); other.how != "" {
			return other.how
		}
		time.Sleep(31 * time.Hour)
	}
	time.Sleep(100 * 365 * 24 * time.Hour)
	return s.again(answers, 0, 1, when).how
}

// draw looks at questions that rapid draws.
func (s *subject[Q, A]) draw(t rapid.TB) {
	t.Helper()
	check(t, func(t *rapid.T) {
		if _, broken := s.look(s.more.Draw(t, "input")); broken != "" {
			t.Fatalf("retrytest: %s", broken)
		}
	})
}

// check is rapid.Check, but for a test that is a case of a property itself, or has failed
// already, which rapid.Check refuses.
func check(t rapid.TB, prop func(*rapid.T)) {
	t.Helper()
	if t, ok := t.(*rapid.T); ok {
		prop(t)
		return
	}
	if !t.Failed() {
		outside(t, func() { rapid.Check(t, prop) })
	}
}

// inBubble runs f in a bubble, where t can have one.
func inBubble(t rapid.TB, f func()) {
	t.Helper()
	switch t := t.(type) {
	case *testing.T:
		outside(t, func() { synctest.Test(t, func(*testing.T) { f() }) })
	case *rapid.T:
		outside(t, func() { rapid.SyncTest(t, func(*rapid.T) { f() }) })
	}
}

const misplaced = "retrytest: called in a bubble, which cannot hold another: call it before the bubble"

// outside runs what cannot run in a bubble, and says so.
func outside(t rapid.TB, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		switch p := recover(); {
		case p == nil:
		case inside(p):
			t.Fatalf(misplaced)
		default:
			panic(p)
		}
	}()
	f()
}

// inside reports whether a panic says that there is a bubble already.
func inside(p any) bool { return strings.Contains(fmt.Sprint(p), "synctest bubble") }

// try calls f and returns what it panicked with, in words; "" where it did not.
func try(f func()) (panicked string) {
	defer func() {
		if p := recover(); p != nil {
			panicked = fmt.Sprintf("panicked: %v", p)
		}
	}()
	f()
	return ""
}

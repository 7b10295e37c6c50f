package retrytest

import (
	"fmt"
	"strings"
	"testing/synctest"

	"pgregory.net/rapid"
)

// Bubble checks a property in virtual time: each of its cases runs in a testing/synctest
// bubble of its own, where waits take no time and are exact. t is a *testing.T, or the
// *rapid.T of a property, so that what is drawn before the bubble shrinks with it.
//
// It is rapid.Check around rapid.SyncTest, in the one order in which they work, and more. A
// failure is reported as it is where it left goroutines behind: without Bubble that is a
// deadlock, and the failure is lost. A property that leaves goroutines behind, or waits for
// ever, is told where they are. And goroutines that it has just started come to their first
// wait before it ends.
//
// Use the T that the property gets, and its Context, which begins in the bubble and ends with
// the property: a context or channel from outside makes the bubble's clock stand still. A
// panic on a goroutine that the property started ends the program, as in any test. Bubble
// does nothing in a test that has failed already, and is not for use in a bubble.
func Bubble(t rapid.TB, prop func(*rapid.T)) {
	t.Helper()
	check(t, func(t *rapid.T) { bubble(t, prop) })
}

func bubble(t *rapid.T, prop func(*rapid.T)) {
	var failure any // of the property itself
	defer func() {
		switch p := recover(); {
		case p == nil:
		case inside(p):
			t.Fatalf(misplaced)
		case !strings.HasPrefix(fmt.Sprint(p), "deadlock: "):
			panic(p)
		case failure != nil:
			t.Fatalf("%v\n(and goroutines are left:%s)", failure, left())
		case strings.HasPrefix(fmt.Sprint(p), "deadlock: main"):
			t.Fatalf("retrytest: the property has returned and goroutines of it are left: have it end them, and wait for them:%s", left())
		default:
			t.Fatalf("retrytest: all that runs in the bubble waits, and nothing can wake it:%s", left())
		}
	}()
	rapid.SyncTest(t, func(t *rapid.T) {
		defer func() {
			failure = recover()
			synctest.Wait() // one that begins when the property has ended would get a context from outside
			if failure != nil {
				panic(failure)
			}
		}()
		prop(t)
	})
}

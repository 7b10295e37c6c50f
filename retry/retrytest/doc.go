// Package retrytest holds retry policies and waits of your own against the laws that those of
// this toolkit keep, and runs your code under them in virtual time.
//
//	func TestMyPolicy(t *testing.T) {
//		retrytest.CheckPolicy(t, policy, ErrBusy)
//		retrytest.Bubble(t, func(t *rapid.T) {
//			op := retrytest.Scripts(rapid.String()).Draw(t, "script").Operation()
//			began := time.Now()
//			_, err := retry.Do(t.Context(), policy, op.Call)
//			if took := time.Since(began); took > 11*time.Second || len(op.Calls()) > 5 {
//				t.Fatalf("%d calls in %v: %v", len(op.Calls()), took, err)
//			}
//		})
//	}
//
// # Which one
//
//   - [CheckPolicy] for a policy: above all for its predicates, strategy and random source,
//     which are code of yours. Name the errors that it is to retry.
//   - [CheckStrategy] for waits: a strategy of your own, or one with a Func in it.
//     [CheckCapped] where you promise a longest wait.
//   - [Bubble] for a property of your own code: it runs each case in a testing/synctest
//     bubble.
//   - [Script] for an operation that fails as you say, and whose calls are recorded.
//   - [Policies], [Strategies], [Errors] and [Scripts] are generators of package rapid, for
//     properties that hold whatever the policy is, or the operation does.
//
// # What a check says
//
// One line: the law that is broken, and the smallest input that breaks it.
//
//	retrytest: law "never above its bounds": Delay(n=3, prev=1s, u=0x8000000000000000) = 9s, but Bounds(3) = [1s, 8s)
//
// A check asks the same questions each time, from small to great (retry 1 before retry 2, a
// plain error before a wrapped one, u = 0 before others), so that the first that fails is the
// smallest, and fails again tomorrow. Then it draws questions with package rapid, as many as
// its flag -rapid.checks says; what fails only there is reported as rapid does, with what
// it was shrunk to.
//
// Run the tests with -race, too: what is not safe for concurrent use is asked by several
// goroutines at once.
//
// # What t is
//
// A *testing.T; or the *rapid.T of a property, where the policy is drawn:
//
//	rapid.Check(t, func(t *rapid.T) {
//		retrytest.CheckPolicy(t, myPolicy(rapid.IntRange(0, 9).Draw(t, "retries")))
//	})
//
// It may be a *testing.B or *testing.F, but for Bubble; CheckPolicy then does not look at
// other times.
package retrytest

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
// # What to do about it
//
//	law                      most often                                   write instead
//	total                    a predicate asserts a type                   errors.AsType, or retry.As and retry.Is
//	                         a Func looks into a table                    the last entry for all further retries
//	pure                     a predicate or Func counts, or keeps time    MaxRetries, MaxElapsed; the argument n
//	                         it draws for itself                          the argument u; for a Func, a window
//	retries its errors       == where an error is wrapped                 errors.Is, or retry.Is
//	                         MaxElapsed is below the first wait           a greater one
//	whole random words       rand.Uint32 or Int63 as the source           rand.Uint64
//	never above its bounds   a jitter that Bounds does not know           Bounds and Delay from one function
//	never negative           a product or a shift that overflows          saturation, or a strategy of package backoff
//	never above its cap      a jitter is added to a wait at the cap        the window clipped to the cap
//
// # What t is
//
// A *testing.T; or the *rapid.T of a property, where the policy is drawn:
//
//	rapid.Check(t, func(t *rapid.T) {
//		retrytest.CheckPolicy(t, myPolicy(rapid.IntRange(0, 9).Draw(t, "retries")))
//	})
//
// It may be a *testing.B or *testing.F, but for Bubble; CheckPolicy then does not look at other
// times. Checks and Bubble are called outside of a bubble.
package retrytest

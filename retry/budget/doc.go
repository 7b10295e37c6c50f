// Package budget keeps retries from taking a service down: a [Budget] is a limit on
// retries that all calls to one target share.
//
// When a service fails, every caller retries, and the service gets several times its
// load just when it can bear least; it may then never recover, though what broke it is
// long over. A budget makes retries a fraction of what succeeds: a retry takes a token,
// a run that succeeds brings a tenth of one back. A fault now and then is retried as
// always; where most calls fail, hardly any is.
//
//	var toDB = budget.New(budget.Default())
//
//	rows, err := retry.Do(ctx, retry.Standard().Limit(toDB), query)
//
// In any stretch of time, retries are at most
//
//	Max + Deposit × runs that succeeded + Floor × seconds
//
// (with costs of 1). A retry that is refused ends its run for [retry.Throttled], with the
// operation's own last error. First calls are never refused: this is no rate limiter, and
// no circuit breaker.
//
//   - [Config]: the rules; [Default], [GRPC], [AWS], [Finagle]: well-known ones
//   - [New], [Budget]: the bucket of tokens, a [retry.Limiter]
//   - [Keyed]: a budget for each target
//   - [Snapshot]: its numbers, for metrics
//
// One budget serves any number of policies and hedges (see future.HedgePolicy.Limit), and
// should serve all that go to one target. Where calls go through several layers that all
// retry, each layer has its own.
package budget

// Package stream is for work that can be started again and gives many values: the rows of a
// query, the pages of an API, the lines of a log.
//
//	rows := stream.From(query).Retry(retry.Standard(), stream.SkipSeen[Row]())
//	for row, err := range rows.All(ctx) {
//		…
//	}
//
// # The law
//
// Work that has run is done; work that can run again can be retried. A [Stream] is a
// recipe, and each run of it starts anew: so it can be retried, by running it again. What
// can be run once is a [SingleUse], and has no Retry: a channel, an iterator in hand, a
// reader.
//
// A retry cannot take back what has been delivered. So what becomes of it is a required
// argument of [Stream.Retry], a [Mode]: [BeforeFirst], [Restart], [SkipSeen] or [Buffered];
// and [Resume] goes on behind the last element, from a cursor.
//
// # Which one
//
//   - Sources that can be run again: [From] an iterator that is opened in every run, [Of] and
//     [FromSlice], [Defer] for one value, [Every] for one value a tick, [Failed].
//   - Sources that can be run once: [FromChan], [FromSeq], [FromSeq2], [FromLines].
//   - Operators: [Map], [MapErr], [Stream.Filter], [Stream.Take], [FlatMap], [Concat], [Merge],
//     [Batch], [ParMap], [RetryEach], [Stream.Repeat], [Stream.Retry], [Resume].
//   - Sinks, which run the stream: [Stream.All] for a range loop, [Stream.Collect],
//     [Stream.First], [Reduce], [Stream.ForEach], [Stream.ToChan].
//
// An eager future of a lazy source is future.Go(ctx, s.First).
//
// # How a stream runs
//
// A run pushes its elements on the goroutine that runs it, one at a time, and ends with one
// error or none. A consumer that wants no more, or panics, is no failure of the source and is
// never retried; the source is told, cleans up, and the error of that is the run's. Operators
// and modes keep nothing between runs, and memory does not grow with elements or retries,
// except as far as an argument such as Buffered's max allows. Only [Merge] and [ParMap] start goroutines; all have ended when the
// run has.
//
// Where the context ended a run, the error of a sink (but for Reduce, which is a bare loop)
// matches the context's error and its cause. A source that does not look at its context, such as [FromSlice], runs to its end.
//
// # Tests
//
// Everything works inside a testing/synctest bubble.
package stream

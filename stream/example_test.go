package stream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/stream"
)

var errBusy = errors.New("busy")

// flaky is a source whose first runs fail: run k fails after k elements.
func flaky(failures int) stream.Stream[int] {
	runs := 0
	return func(_ context.Context, yield func(int) bool) error {
		runs++
		for v := 1; v <= 3; v++ {
			if runs <= failures && v > runs {
				return errBusy
			}
			if !yield(v) {
				return nil
			}
		}
		return nil
	}
}

func Example() {
	s := flaky(2).Retry(noWait, stream.SkipSeen[int]())
	for v, err := range s.All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(v)
	}
	// Output:
	// 1
	// 2
	// 3
}

// A log of JSON lines is read through faults: reading begins anew behind the last line that
// was taken, so that none is lost and none comes twice.
func Example_aLogOfJSONLines() {
	type event struct {
		ID   int
		next int64 // the offset of the line behind it
	}
	name := filepath.Join(os.TempDir(), fmt.Sprintf("dacapo-%d.jsonl", os.Getpid()))
	if err := os.WriteFile(name, []byte(`{"ID":1}`+"\n"+`{"ID":2}`+"\n"+`{"ID":3}`+"\n"+`{"ID":4}`+"\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.Remove(name) }()

	opened := 0
	follow := func(_ context.Context, offset int64, _ bool) stream.Stream[event] {
		return func(ctx context.Context, yield func(event) bool) error {
			file, err := os.Open(name)
			if err != nil {
				return err
			}
			defer func() { _ = file.Close() }()
			if _, err := file.Seek(offset, io.SeekStart); err != nil {
				return err
			}
			var lines io.Reader = file
			if opened++; opened < 3 {
				lines = io.MultiReader(io.LimitReader(file, 12), failing{errBusy}) // the disk is gone in the second line
			}
			for line, err := range stream.FromLines(lines).All(ctx) {
				if err != nil {
					return err
				}
				offset += int64(len(line)) + 1
				e := event{next: offset}
				if err := json.Unmarshal([]byte(line), &e); err != nil {
					return err
				}
				if !yield(e) {
					return nil
				}
			}
			return nil
		}
	}
	behind := func(e event) (int64, bool) { return e.next, true }
	events := stream.Resume(follow, behind, 0, noWait, stream.Reset{}.MaxTotal(100))
	err := events.ForEach(context.Background(), func(_ context.Context, e event) error {
		fmt.Println("event", e.ID)
		return nil
	})
	fmt.Println(err, "opened", opened, "times")
	// Output:
	// event 1
	// event 2
	// event 3
	// event 4
	// <nil> opened 3 times
}

// failing is a reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// The pages of an API are read one after the other; a page that fails is asked for again
// with the cursor of the page before.
func Example_pagesOfAnAPI() {
	type page struct {
		Users []string
		Next  string
	}
	pages := map[string]page{"": {[]string{"Ada", "Bob"}, "p2"}, "p2": {[]string{"Clara"}, "p3"}, "p3": {[]string{"Dora", "Emil"}, ""}}
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests++; requests%2 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_ = json.NewEncoder(w).Encode(pages[r.URL.Query().Get("cursor")])
	}))
	defer server.Close()

	get := func(ctx context.Context, cursor string) (p page, err error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"?cursor="+url.QueryEscape(cursor), nil)
		if err != nil {
			return p, retry.Permanent(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return p, err
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			return p, errors.New(response.Status)
		}
		return p, json.NewDecoder(response.Body).Decode(&p)
	}
	from := func(ctx context.Context, cursor string, _ bool) stream.Stream[page] {
		return stream.From(func(ctx context.Context) iter.Seq2[page, error] {
			return func(yield func(page, error) bool) {
				for more := true; more; more = cursor != "" {
					p, err := get(ctx, cursor)
					if !yield(p, err) || err != nil {
						return
					}
					cursor = p.Next
				}
			}
		})
	}
	all := stream.Resume(from, func(p page) (string, bool) { return p.Next, p.Next != "" }, "", noWait, stream.Reset{}.MaxTotal(100))
	users := stream.FlatMap(all, func(p page) stream.Stream[string] { return stream.FromSlice(p.Users) })
	names, err := users.Collect(context.Background())
	fmt.Println(names, err, requests, "requests")
	// Output: [Ada Bob Clara Dora Emil] <nil> 5 requests
}

func ExampleStream() {
	countdown := stream.Stream[int](func(_ context.Context, yield func(int) bool) error {
		for n := 3; n > 0; n-- {
			if !yield(n) {
				return nil
			}
		}
		return nil
	})
	fmt.Println(countdown.Collect(context.Background()))
	fmt.Println(countdown.Collect(context.Background())) // every run starts anew
	// Output:
	// [3 2 1] <nil>
	// [3 2 1] <nil>
}

func ExampleFrom() {
	opened := 0
	rows := stream.From(func(context.Context) iter.Seq2[string, error] {
		opened++ // a query, a file, a connection
		return func(yield func(string, error) bool) {
			if yield("a", nil) && opened == 1 {
				yield("", errBusy)
			}
		}
	})
	fmt.Println(rows.Retry(noWait, stream.SkipSeen[string]()).Collect(context.Background()))
	// Output: [a] <nil>
}

func ExampleOf() {
	fmt.Println(stream.Of(1, 2, 3).Collect(context.Background()))
	// Output: [1 2 3] <nil>
}

func ExampleFromSlice() {
	fmt.Println(stream.FromSlice([]string{"a", "b"}).Collect(context.Background()))
	// Output: [a b] <nil>
}

func ExampleDefer() {
	calls := 0
	user := stream.Defer(func(context.Context) (string, error) {
		if calls++; calls < 3 {
			return "", errBusy
		}
		return "Ada", nil
	})
	fmt.Println(user.Retry(noWait, stream.BeforeFirst[string]()).First(context.Background()))
	// Output: Ada <nil>
}

func ExampleFailed() {
	fmt.Println(stream.Failed[int](errBusy).Collect(context.Background()))
	// Output: [] busy
}

func ExampleEvery() {
	n := 0
	ticks := stream.Every(time.Millisecond, func(context.Context) (int, error) { n++; return n, nil })
	fmt.Println(ticks.Take(3).Collect(context.Background()))
	// Output: [1 2 3] <nil>
}

func ExampleStream_All() {
	for v, err := range flaky(1).All(context.Background()) {
		fmt.Println(v, err)
	}
	// Output:
	// 1 <nil>
	// 0 busy
}

func ExampleStream_Filter() {
	even := func(v int) bool { return v%2 == 0 }
	fmt.Println(stream.Of(1, 2, 3, 4).Filter(even).Collect(context.Background()))
	// Output: [2 4] <nil>
}

func ExampleStream_Take() {
	fmt.Println(stream.Of(1).Repeat(backoff.Strategy{}).Take(3).Collect(context.Background()))
	// Output: [1 1 1] <nil>
}

func ExampleStream_Retry() {
	fmt.Println(flaky(2).Retry(noWait, stream.BeforeFirst[int]()).Collect(context.Background()))
	fmt.Println(flaky(2).Retry(noWait, stream.Restart[int]()).Collect(context.Background()))
	fmt.Println(flaky(2).Retry(noWait, stream.SkipSeen[int]()).Collect(context.Background()))
	fmt.Println(flaky(2).Retry(noWait, stream.Buffered[int](10)).Collect(context.Background()))
	// Output:
	// [1] busy
	// [1 1 2 1 2 3] <nil>
	// [1 2 3] <nil>
	// [1 2 3] <nil>
}

func ExampleStream_Repeat() {
	poll := stream.Defer(func(context.Context) (string, error) { return "status", nil })
	fmt.Println(poll.Repeat(backoff.Constant(time.Millisecond)).Take(2).Collect(context.Background()))
	// Output: [status status] <nil>
}

func ExampleStream_Collect() {
	fmt.Println(flaky(1).Collect(context.Background())) // what came before the failure, and that
	// Output: [1] busy
}

func ExampleStream_First() {
	fmt.Println(stream.Of(7, 8).First(context.Background()))
	_, err := stream.Of[int]().First(context.Background())
	fmt.Println(err == stream.ErrEmpty)
	// Output:
	// 7 <nil>
	// true
}

func ExampleStream_ForEach() {
	err := stream.Of(1, 2, 3).ForEach(context.Background(), func(_ context.Context, v int) error {
		if v == 2 {
			return errBusy
		}
		fmt.Println(v)
		return nil
	})
	fmt.Println(err)
	// Output:
	// 1
	// busy
}

func ExampleStream_ToChan() {
	ch := make(chan int, 3)
	fmt.Println(stream.Of(1, 2, 3).ToChan(context.Background(), ch))
	close(ch)
	for v := range ch {
		fmt.Print(v, " ")
	}
	// Output:
	// <nil>
	// 1 2 3
}

func ExampleMap() {
	fmt.Println(stream.Map(stream.Of(1, 2), strconv.Itoa).Collect(context.Background()))
	// Output: [1 2] <nil>
}

func ExampleMapErr() {
	_, err := stream.MapErr(stream.Of("1", "two"), strconv.Atoi).Collect(context.Background())
	fmt.Println(err)
	// Output: strconv.Atoi: parsing "two": invalid syntax
}

func ExampleFlatMap() {
	words := stream.FlatMap(stream.Of("a b", "c"), func(line string) stream.Stream[string] { return stream.FromSlice(strings.Fields(line)) })
	fmt.Println(words.Collect(context.Background()))
	// Output: [a b c] <nil>
}

func ExampleConcat() {
	fmt.Println(stream.Concat(stream.Of(1, 2), stream.Of(3)).Collect(context.Background()))
	// Output: [1 2 3] <nil>
}

func ExampleMerge() {
	all, err := stream.Merge(stream.Of(1, 2), stream.Of(3)).Collect(context.Background())
	slices.Sort(all) // they come as they come
	fmt.Println(all, err)
	// Output: [1 2 3] <nil>
}

func ExampleBatch() {
	fmt.Println(stream.Batch(stream.Of(1, 2, 3), 2).Collect(context.Background()))
	// Output: [[1 2] [3]] <nil>
}

func ExampleParMap() {
	lengths := stream.ParMap(stream.Of("a", "bb", "ccc"), 2, stream.Ordered, func(_ context.Context, s string) (int, error) { return len(s), nil })
	fmt.Println(lengths.Collect(context.Background()))
	// Output: [1 2 3] <nil>
}

// Eight at a time, each with retries.
func ExampleParMap_retries() {
	var calls atomic.Int64
	fetch := func(_ context.Context, id int) (string, error) {
		if calls.Add(1) == 2 {
			return "", errBusy
		}
		return fmt.Sprint("user ", id), nil
	}
	users := stream.ParMap(stream.Of(1, 2, 3), 8, stream.Ordered, func(ctx context.Context, id int) (string, error) {
		return retry.Do(ctx, noWait, func(ctx context.Context) (string, error) { return fetch(ctx, id) })
	})
	fmt.Println(users.Collect(context.Background()))
	// Output: [user 1 user 2 user 3] <nil>
}

func ExampleOrder() {
	fmt.Println(stream.Ordered, stream.Unordered)
	// Output: ordered unordered
}

func ExamplePanicError() {
	defer func() {
		var p *stream.PanicError
		err, _ := recover().(error)
		fmt.Println(errors.As(err, &p), p.Value)
	}()
	_, _ = stream.ParMap(stream.Of(1), 2, stream.Ordered, func(context.Context, int) (int, error) { panic("a bug") }).Collect(context.Background())
	// Output: true a bug
}

func ExampleRetryEach() {
	calls := 0
	users := stream.RetryEach(stream.Of(1, 2), noWait, func(_ context.Context, id int) (string, error) {
		if calls++; calls%2 == 1 {
			return "", errBusy
		}
		return fmt.Sprint("user ", id), nil
	})
	fmt.Println(users.Collect(context.Background()))
	// Output: [user 1 user 2] <nil>
}

func ExampleReduce() {
	fmt.Println(stream.Reduce(context.Background(), stream.Of(1, 2, 3), 0, func(sum, v int) int { return sum + v }))
	// Output: 6 <nil>
}

func ExampleResume() {
	opened := 0
	numbers := func(_ context.Context, from int, _ bool) stream.Stream[int] {
		if opened++; opened == 1 {
			return stream.Concat(stream.Of(from+1, from+2), stream.Failed[int](errBusy))
		}
		return stream.Of(from+1, from+2)
	}
	s := stream.Resume(numbers, func(v int) (int, bool) { return v, true }, 0, noWait, stream.Reset{})
	fmt.Println(s.Collect(context.Background()))
	// Output: [1 2 3 4] <nil>
}

func ExampleMode() {
	var none stream.Mode[int] // says nothing, and so nothing is run
	_, err := stream.Of(1).Retry(noWait, none).Collect(context.Background())
	fmt.Println(err)
	// Output: stream: the zero Mode does not say what is to become of delivered elements: want BeforeFirst, Restart, SkipSeen or Buffered
}

func ExampleBeforeFirst() {
	var reason retry.Reason
	policy := noWait.Events(func(_ context.Context, e retry.Event) { reason = e.Reason })
	fmt.Println(flaky(2).Retry(policy, stream.BeforeFirst[int]()).Collect(context.Background()))
	fmt.Println(reason)
	// Output:
	// [1] busy
	// partial
}

func ExampleRestart() {
	fmt.Println(flaky(1).Retry(noWait, stream.Restart[int]()).Collect(context.Background()))
	// Output: [1 1 2 3] <nil>
}

func ExampleSkipSeen() {
	fmt.Println(flaky(2).Retry(noWait, stream.SkipSeen[int]()).Collect(context.Background()))

	runs := 0
	clock := stream.Stream[int](func(_ context.Context, yield func(int) bool) error {
		if runs++; yield(runs) && runs == 1 { // not the same in every run
			return errBusy
		}
		yield(runs + 1)
		return nil
	})
	all, err := clock.Retry(noWait, stream.SkipSeen[int]()).Collect(context.Background())
	fmt.Println(all, err == stream.ErrDiverged)
	// Output:
	// [1 2 3] <nil>
	// [1] true
}

func ExampleSkipSeenBy() {
	type row struct {
		id   int
		tags []string // a slice cannot be compared
	}
	runs := 0
	rows := stream.Stream[row](func(_ context.Context, yield func(row) bool) error {
		runs++
		if yield(row{id: 1}) && runs == 1 {
			return errBusy
		}
		yield(row{id: 2, tags: []string{"new"}})
		return nil
	})
	all, err := rows.Retry(noWait, stream.SkipSeenBy(func(r row) int { return r.id })).Collect(context.Background())
	fmt.Println(all, err)
	// Output: [{1 []} {2 [new]}] <nil>
}

func ExampleBuffered() {
	fmt.Println(flaky(2).Retry(noWait, stream.Buffered[int](3)).Collect(context.Background()))
	_, err := flaky(0).Retry(noWait, stream.Buffered[int](2)).Collect(context.Background())
	fmt.Println(err == stream.ErrBuffer)
	// Output:
	// [1 2 3] <nil>
	// true
}

func ExampleMode_Reset() {
	// One retry in a row and a hundred in all, if an element comes in between.
	s := flaky(2).Retry(noWait.MaxRetries(1), stream.Restart[int]().Reset(stream.ResetAfter(1).MaxTotal(100)))
	fmt.Println(s.Collect(context.Background()))
	// Output: [1 1 2 1 2 3] <nil>
}

func ExampleMode_Err() {
	fmt.Println(stream.Buffered[int](0).Err())
	// Output: stream: Buffered may keep 0 elements: want 1 or more
}

func ExampleReset() {
	var never stream.Reset
	_, err := flaky(2).Retry(noWait.MaxRetries(1), stream.Restart[int]().Reset(never)).Collect(context.Background())
	fmt.Println(err)
	// Output: busy
}

func ExampleResetNever() {
	s := stream.Concat(stream.Of(1), stream.Failed[int](errBusy))
	open := func(context.Context, int, bool) stream.Stream[int] { return s }
	all, err := stream.Resume(open, func(v int) (int, bool) { return v, true }, 0, noWait, stream.ResetNever()).Collect(context.Background())
	fmt.Println(all, err) // 3 retries, though each run went on
	// Output: [1 1 1 1] busy
}

func ExampleResetOnProgress() {
	s := stream.Concat(stream.Of(1), stream.Failed[int](errBusy))
	open := func(context.Context, int, bool) stream.Stream[int] { return s }
	reset := stream.ResetOnProgress().MaxTotal(5)
	all, err := stream.Resume(open, func(v int) (int, bool) { return v, true }, 0, noWait, reset).Collect(context.Background())
	fmt.Println(all, err)
	// Output: [1 1 1 1 1 1] busy
}

func ExampleResetAfter() {
	reset := stream.ResetAfter(1000).MaxTotal(20) // a thousand elements make up for a failure
	fmt.Println(reset.Err())
	// Output: <nil>
}

func ExampleResetHealthy() {
	reset := stream.ResetHealthy(time.Minute).MaxWithin(10, time.Hour)
	fmt.Println(reset.Err())
	// Output: <nil>
}

func ExampleReset_MaxTotal() {
	s := stream.Concat(stream.Of(1), stream.Failed[int](errBusy)) // recovers and fails, for ever
	all, err := s.Retry(noWait, stream.Restart[int]().Reset(stream.ResetAfter(1).MaxTotal(5))).Collect(context.Background())
	fmt.Println(all, err)
	// Output: [1 1 1 1 1 1] busy
}

func ExampleReset_MaxWithin() {
	s := stream.Concat(stream.Of(1), stream.Failed[int](errBusy))
	all, err := s.Retry(noWait, stream.Restart[int]().Reset(stream.ResetAfter(1).MaxWithin(3, time.Hour))).Collect(context.Background())
	fmt.Println(all, err)
	// Output: [1 1 1 1] busy
}

func ExampleReset_Err() {
	fmt.Println(stream.ResetHealthy(0).Err())
	// Output: stream: ResetHealthy(0s): want more than 0
}

func ExampleSingleUse() {
	words := stream.FromLines(strings.NewReader("do\nre\nmi"))
	fmt.Println(words.Collect(context.Background()))
	_, err := words.Collect(context.Background())
	fmt.Println(err == stream.ErrUsed)
	// Output:
	// [do re mi] <nil>
	// true
}

func ExampleFromChan() {
	ch := make(chan int, 2)
	ch <- 1
	ch <- 2
	close(ch)
	fmt.Println(stream.FromChan(ch).Collect(context.Background()))
	// Output: [1 2] <nil>
}

func ExampleFromSeq() {
	fmt.Println(stream.FromSeq(slices.Values([]int{1, 2})).Collect(context.Background()))
	// Output: [1 2] <nil>
}

func ExampleFromSeq2() {
	seq := func(yield func(int, error) bool) { _ = yield(1, nil) && yield(0, errBusy) }
	fmt.Println(stream.FromSeq2(seq).Collect(context.Background()))
	// Output: [1] busy
}

func ExampleFromLines() {
	fmt.Println(stream.FromLines(bytes.NewBufferString("a\r\nb\n")).Collect(context.Background()))
	// Output: [a b] <nil>
}

func ExampleSingleUse_Stream() {
	lengths := stream.Map(stream.FromLines(strings.NewReader("do\nsol")).Stream(), func(s string) int { return len(s) })
	fmt.Println(lengths.Collect(context.Background()))
	// Output: [2 3] <nil>
}

func ExampleSingleUse_All() {
	for line, err := range stream.FromLines(strings.NewReader("do\nre")).All(context.Background()) {
		fmt.Println(line, err)
	}
	// Output:
	// do <nil>
	// re <nil>
}

func ExampleSingleUse_Collect() {
	fmt.Println(stream.FromLines(strings.NewReader("do\nre")).Collect(context.Background()))
	// Output: [do re] <nil>
}

func ExampleSingleUse_First() {
	fmt.Println(stream.FromLines(strings.NewReader("do\nre")).First(context.Background()))
	// Output: do <nil>
}

func ExampleSingleUse_ForEach() {
	_ = stream.FromLines(strings.NewReader("do\nre")).ForEach(context.Background(), func(_ context.Context, line string) error {
		fmt.Println(line)
		return nil
	})
	// Output:
	// do
	// re
}

func ExampleSingleUse_ToChan() {
	ch := make(chan string, 2)
	fmt.Println(stream.FromLines(strings.NewReader("do\nre")).ToChan(context.Background(), ch), <-ch, <-ch)
	// Output: <nil> do re
}

func ExampleSingleUse_EagerResult() {
	_, err := retry.Do(context.Background(), noWait, func(context.Context) (stream.SingleUse[string], error) {
		return stream.FromLines(failing{errBusy}), nil // fails later
	})
	fmt.Println(err == retry.ErrEagerResult)
	// Output: true
}

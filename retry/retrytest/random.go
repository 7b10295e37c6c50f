package retrytest

import (
	"context"
	"fmt"
	"math/bits"
	"strings"
	"sync"
	"time"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
)

// randomness says what is wrong with the words of the policy's own random source. Their bits
// are seen in the waits of a jitter over 2⁶²ns: a wait is the word without its last two bits.
func randomness(p retry.Policy, c *claims) string {
	err, ok := c.retried()
	if !ok || !strings.Contains(p.String(), " +Rand") {
		return ""
	}
	const goroutines, each = 4, 16
	p = p.MaxRetries(1).MaxElapsed(longest).Backoff(backoff.Constant(1 << 62).FullJitter()).Limit(willing{})
	var words [goroutines * each]uint64
	var panicked [goroutines]string
	var all sync.WaitGroup
	for g := range panicked {
		all.Go(func() {
			panicked[g] = try(func() {
				for i := range each {
					words[g*each+i] = uint64(drawn(p, err)) << 2
				}
			})
		})
	}
	all.Wait()
	for _, how := range panicked {
		if how != "" {
			return broken("total", "Rand "+how)
		}
	}
	return constant(words[:])
}

// willing is the limiter of the runs that are made here: the policy's own is left alone.
type willing struct{}

func (willing) Allow(context.Context, error) (int64, bool) { return 0, true }
func (willing) Done(retry.Outcome)                         {}

// drawn returns the wait that a run of p would begin, and ends the run before it.
func drawn(p retry.Policy, err error) (wait time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p = p.Events(func(_ context.Context, e retry.Event) {
		if e.Kind == retry.Scheduled {
			wait = e.Delay
			cancel()
		}
	})
	_ = retry.Run(ctx, p, func(context.Context) error { return err }) // ends by the cancel
	return wait
}

// constant says which bit, but for the last two, is the same in all words.
func constant(words []uint64) string {
	ones, zeros := ^uint64(0), ^uint64(0)
	for _, w := range words {
		ones, zeros = ones&w, zeros&^w
	}
	same := (ones | zeros) >> 2 << 2
	if same == 0 {
		return ""
	}
	bit := 63 - bits.LeadingZeros64(same)
	return broken("whole random words", fmt.Sprintf("bit %d is %d in each of %d words from Rand: want 64 random bits, as rand.Uint64 gives them", bit, ones>>bit&1, len(words)))
}

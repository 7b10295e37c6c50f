package property_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/dacapo-go/dacapo/retry"
)

// Laws that hold one run against another.

// compared plays two scripts with one driver.
func compared(t *testing.T, other func(*rapid.T, script) script, holds func(t *rapid.T, s, changed script, a, b seen)) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScript(t)
		changed := other(t, s)
		if m := changed.model(); m.tie || m.overlong {
			t.Skip("it has no one end")
		}
		d := rapid.SampledFrom(s.drivers()).Draw(t, "driver")
		rapid.SyncTest(t, func(t *rapid.T) { holds(t, s, changed, s.play(d), changed.play(d)) })
	})
}

func (got seen) begins() (all []time.Duration) {
	for _, c := range got.calls {
		all = append(all, c.at)
	}
	return all
}

func TestTheSameDrawsGiveTheSameRun(t *testing.T) {
	same := func(_ *rapid.T, s script) script { return s }
	compared(t, same, func(t *rapid.T, s, _ script, a, b seen) {
		require.Equal(t, a.calls, b.calls)
		require.Equal(t, a.end, b.end)
		require.Equal(t, a.drawn, b.drawn)
		require.Len(t, b.events, len(a.events))
		require.True(t, s.wrap || a.ctxErr != nil || a.err == b.err || s.faulty || len(a.events) == 0 || a.reason() == retry.DeadlineWouldExceed)
	})
}

func (got seen) reason() retry.Reason {
	for _, e := range got.of(retry.Finished) {
		return e.Reason
	}
	return 0
}

func TestWatchingARunChangesNothingInIt(t *testing.T) {
	watched := func(_ *rapid.T, s script) script {
		s.wrap, s.info, s.hooked = !s.wrap, !s.info, s.hooked || s.cancelHook < 0
		return s
	}
	compared(t, watched, func(t *rapid.T, s, changed script, a, b seen) {
		if s.cancelHook >= 0 && !s.hooked {
			return
		}
		require.Equal(t, a.begins(), b.begins())
		require.Equal(t, a.end, b.end)
		require.Equal(t, a.value, b.value)
		require.Equal(t, a.err == nil, b.err == nil)
		require.True(t, a.reason() == 0 || b.reason() == 0 || a.reason() == b.reason())
	})
}

// What limits a run cuts its schedule short and changes nothing before that.
func TestALimitOnlyEverCutsARunShort(t *testing.T) {
	limited := func(t *rapid.T, s script) script {
		at := time.Duration(rapid.Int64Range(1, int64(max(s.model().end, 1))).Draw(t, "at"))
		switch rapid.SampledFrom([]string{"retries", "budget", "cancel", "except", "if"}).Draw(t, "limit") {
		case "retries":
			s.retries = rapid.IntRange(0, 3).Draw(t, "retries")
		case "budget":
			s.maxElapsed = ifElse(s.maxElapsed == 0, at, min(at, max(s.maxElapsed, 1)))
		case "cancel":
			s.cancelAt = min(s.cancelAt, at)
		case "except":
			s.except = append(slices.Clone(s.except), "full")
		case "if":
			s.ifs = append(slices.Clone(s.ifs), "not code")
		}
		return s
	}
	compared(t, limited, func(t *rapid.T, s, changed script, a, b seen) {
		if s.retriesGiven() < changed.retriesGiven() {
			return
		}
		require.LessOrEqual(t, len(b.calls), len(a.calls))
		require.Equal(t, a.begins()[:len(b.calls)], b.begins())
	})
}

func (s script) retriesGiven() int {
	if s.retries == -1 {
		return 3
	}
	return s.retries
}

func TestAPolicyReadFromItsTextGivesTheSameRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScript(t)
		s.on, s.except, s.ifs, s.hooked, s.cancelHook = nil, nil, nil, false, -1
		text, err := s.limits().MarshalText()
		if m := s.model(); err != nil || m.tie || m.overlong {
			t.Skip("it has no text, or no one end")
		}
		read, err := retry.Parse(string(text))
		require.NoError(t, err)
		d := rapid.SampledFrom(s.drivers()).Draw(t, "driver")
		rapid.SyncTest(t, func(t *rapid.T) {
			a := s.play(d)
			w := s.world()
			ctx, stop := w.context()
			defer stop()
			b := w.playUnder(ctx, w.refine(read), d)
			require.Equal(t, a.calls, b.calls)
			require.Equal(t, a.end, b.end)
		})
	})
}

// ending is what a call of the next law does, and whether a call can follow it.
type ending struct {
	fails *tree
	goes  bool
}

func TestTheNumberOfCallsIsUpToTheFirstThatEndsTheRun(t *testing.T) {
	own := (&tree{kind: "own"}).build()
	permanent := (&tree{kind: "permanent", of: []*tree{own}}).build()
	endings := rapid.SampledFrom([]ending{
		{own, true}, {leaf("cancelled"), true}, {leaf("deadline"), true}, {(&tree{kind: "after", hint: 1, of: []*tree{own}}).build(), true},
		{(&tree{kind: "join", of: []*tree{own, leaf("full")}}).build(), true}, {(&tree{kind: "final"}).build(), true},
		{nil, false}, {permanent, false}, {(&tree{kind: "wrap", of: []*tree{permanent}}).build(), false},
		{(&tree{kind: "join", of: []*tree{own, permanent}}).build(), false}, {leaf("gone"), false}, {(&tree{kind: "final", some: true}).build(), false},
	})
	rapid.Check(t, func(t *rapid.T) {
		s := plain()
		s.except, s.retries = []pick{"gone"}, rapid.SampledFrom([]int{0, 1, 2, 3, 9, retry.Unlimited}).Draw(t, "retries")
		want := 0
		for _, e := range append(rapid.SliceOfN(endings, 0, 12).Draw(t, "endings"), ending{}) {
			s.steps = append(s.steps, step{fails: e.fails})
			if want == 0 && !e.goes {
				want = len(s.steps)
			}
		}
		if s.retries < want {
			want = min(want, 1+s.retries)
		}
		rapid.SyncTest(t, func(t *rapid.T) {
			for _, d := range drivers {
				require.Len(t, s.play(d).calls, want, d.name)
			}
		})
	})
}

// many are the drivers, but mostly future.Retry: there, many waits are ended by one hook.
var many = append([]driver{drivers[3], drivers[3], drivers[3], drivers[3]}, drivers...)

// One policy, and one context where that is drawn, for runs that go on at once:
// each is what it is alone.
func TestAPolicySharedByManyRunsGivesEachWhatItGivesAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := drawScript(t)
		first.hooked, first.cancelHook, first.partial, first.leaves, first.allows = false, -1, 0, 0, nil
		first.words = first.words[:1]
		if coin.Draw(t, "cut short") {
			first.cancelAt = time.Duration(rapid.Int64Range(1, int64(6*time.Second)).Draw(t, "cancel"))
		}
		runs, players := []script{}, []driver{}
		for range rapid.IntRange(2, 6).Draw(t, "runs") {
			s := first
			s.steps = rapid.SliceOfN(rapid.Custom(drawStep), 1, 6).Draw(t, "steps")
			for i := range s.steps { // no futures: whose failures came before is not each run's own
				s.steps[i].awaits, s.steps[i].cancels = "", false
			}
			if m := s.model(); m.tie || m.overlong {
				continue
			}
			runs, players = append(runs, s), append(players, rapid.SampledFrom(many).Draw(t, "driver"))
		}
		oneContext := rapid.Bool().Draw(t, "one context")
		rapid.SyncTest(t, func(t *rapid.T) { together(t, first, runs, players, oneContext) })
	})
}

func together(t *rapid.T, first script, runs []script, players []driver, oneContext bool) {
	alone := make([]seen, len(runs))
	for i, s := range runs {
		alone[i] = s.play(players[i])
	}
	w := first.world()
	shared, stop := w.context()
	defer stop()
	p := w.refine(first.limits()).Rand(func() uint64 { return first.words[0] })
	got := make([]seen, len(runs))
	var all sync.WaitGroup
	for i, s := range runs {
		all.Go(func() { got[i] = s.playShared(shared, p, players[i], oneContext) })
	}
	all.Wait()
	for i := range runs {
		require.Equal(t, alone[i].calls, got[i].calls, players[i].name)
		require.Equal(t, alone[i].end, got[i].end, players[i].name)
		_, wrapped := alone[i].err.(*retry.Error)
		require.True(t, alone[i].err == got[i].err || wrapped || first.faulty, "%v is %v itself", got[i].err, alone[i].err)
	}
}

func (s script) playShared(shared context.Context, p retry.Policy, d driver, oneContext bool) seen {
	w := s.world()
	own, stop := w.context()
	defer stop()
	if oneContext {
		own = shared
	}
	return w.playUnder(own, p, d)
}

package future

import (
	"context"
	"sync"
	"time"

	"github.com/dacapo-go/dacapo/retry"
)

// A sleeper is a run that can wait: it then holds a timer, and no goroutine. All that
// wait under contexts that end with one channel are in one ward, which has a single
// hook on that end.
type sleeper struct {
	node
	timer  *time.Timer // made at the first wait
	ctx    context.Context
	policy *retry.Policy
}

// A ward is a list of sleepers, and gone when that is empty.
type ward struct {
	list   list
	unhook func() bool   // nil: the hook is being made
	policy *retry.Policy // of the last to come, to be shared by those with an equal one
}

// wards are found by the channel that ends them. They are passive: no goroutine or
// timer belongs to them, and no code of the user's runs under the lock, so that a
// testing/synctest bubble sees nothing of them.
var wards = struct {
	sync.Mutex
	of map[<-chan struct{}]*ward
}{of: map[<-chan struct{}]*ward{}}

// sleep has the run wait: after d the timer calls awake, on a goroutine of its own;
// where the context ends first, t is run. Only the first wait needs awake.
func (s *sleeper) sleep(d time.Duration, t task, awake func()) {
	s.task = t
	ended := s.ctx.Done()
	wards.Lock()
	w := wards.of[ended]
	isNew := w == nil
	if isNew {
		w = new(ward)
		wards.of[ended] = w
	}
	if w.policy != nil && *s.policy == *w.policy {
		s.policy = w.policy
	}
	w.policy = s.policy
	w.list.push(&s.node)
	if s.timer == nil {
		s.timer = time.AfterFunc(d, awake)
	} else {
		s.timer.Reset(d)
	}
	wards.Unlock()
	if isNew && ended != nil {
		w.hook(s.ctx, ended)
	}
}

// hook hooks the ward to the end of ctx. (Not under the lock: ctx may be the user's.)
func (w *ward) hook(ctx context.Context, ended <-chan struct{}) {
	unhook := context.AfterFunc(ctx, func() { endWaits(ended) })
	wards.Lock()
	w.unhook = unhook
	gone := wards.of[ended] != w
	wards.Unlock()
	if gone {
		unhook()
	}
}

// rise takes the run out of its ward when its time has come. It reports false where
// the end of the context was first.
func (s *sleeper) rise() bool {
	ended := s.ctx.Done()
	wards.Lock()
	if s.next == nil {
		wards.Unlock()
		return false
	}
	unhook := leave(ended, &s.node)
	wards.Unlock()
	if unhook != nil {
		unhook()
	}
	return true
}

// leave takes a sleeper out of its ward. It returns the ward's hook, to be taken off,
// if it was the last. The lock is held.
func leave(ended <-chan struct{}, n *node) (unhook func() bool) {
	w := wards.of[ended]
	w.list.remove(n)
	if w.list.first != nil {
		return nil
	}
	delete(wards.of, ended)
	return w.unhook
}

// endWaits ends the waits of all sleepers of a ward, in turn. Where what it runs ends
// the goroutine (runtime.Goexit), another goroutine goes on.
func endWaits(ended <-chan struct{}) {
	over := false
	defer func() {
		if !over {
			go endWaits(ended)
		}
	}()
	for t := nextToEnd(ended); t != nil; t = nextToEnd(ended) {
		t.run(nil)
	}
	over = true
}

func nextToEnd(ended <-chan struct{}) task {
	wards.Lock()
	defer wards.Unlock()
	w := wards.of[ended]
	if w == nil {
		return nil
	}
	n := w.list.first
	leave(ended, n)
	return n.task
}

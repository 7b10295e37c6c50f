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
	node[func()]
	ward   *ward       // nil: it does not wait
	timer  *time.Timer // made at the first wait
	ctx    context.Context
	policy *retry.Policy
}

// A ward is a list of sleepers, and gone when that is empty.
type ward struct {
	list   list[func()]
	ended  <-chan struct{}
	unhook func() bool   // nil: the hook is being made
	policy *retry.Policy // of the last to come, to be shared by those with an equal one
}

// wards are found by the channel that ends them. They are passive: no goroutine or
// timer belongs to them, and no code of the user's runs under the lock, so that a
// testing/synctest bubble sees nothing of them.
var wards struct {
	sync.Mutex
	of   map[<-chan struct{}]*ward
	most int // that there have been at once: a map does not shrink by itself
}

// wardOf returns the ward for a channel, and whether it is new. The lock is held.
func wardOf(ended <-chan struct{}) (w *ward, isNew bool) {
	if w = wards.of[ended]; w != nil {
		return w, false
	}
	if wards.of == nil {
		wards.of = map[<-chan struct{}]*ward{}
	}
	w = &ward{ended: ended}
	wards.of[ended] = w
	wards.most = max(wards.most, len(wards.of))
	return w, true
}

// leave takes a sleeper out of its ward. It returns the ward's hook, to be taken off,
// if it was the last. The lock is held.
func (w *ward) leave(n *node[func()]) (unhook func() bool) {
	w.list.remove(n)
	if w.list.first != nil {
		return nil
	}
	delete(wards.of, w.ended)
	if len(wards.of) == 0 && wards.most > 1000 {
		wards.of, wards.most = nil, 0
	}
	return w.unhook
}

// sleep has the run wait: awake is called after d, on a goroutine of the timer's, or where
// the context ends, on the one that ends all its waits; or by both. Only the first wait
// needs it.
func (s *sleeper) sleep(d time.Duration, awake func()) {
	ctx, ended := s.ctx, s.ctx.Done()
	wards.Lock()
	w, isNew := wardOf(ended)
	if w.policy != nil && *s.policy == *w.policy {
		s.policy = w.policy
	}
	w.policy, s.ward = s.policy, w
	w.list.push(&s.node)
	if s.timer == nil {
		s.owner, s.timer = awake, time.AfterFunc(d, awake)
	} else {
		s.timer.Reset(d)
	}
	wards.Unlock()
	if isNew && ended != nil {
		w.hook(ctx)
	}
}

// hook hooks the ward to the end of ctx. (Not under the lock: ctx may be the user's.)
func (w *ward) hook(ctx context.Context) {
	unhook := context.AfterFunc(ctx, w.end)
	wards.Lock()
	w.unhook = unhook
	gone := w.list.first == nil
	wards.Unlock()
	if gone {
		unhook()
	}
}

// rise ends the wait. It reports false where it has ended already.
func (s *sleeper) rise() bool {
	wards.Lock()
	w := s.ward
	if w == nil {
		wards.Unlock()
		return false
	}
	s.ward = nil
	var unhook func() bool
	if s.next != nil { // else the ward ends
		unhook = w.leave(&s.node)
	}
	wards.Unlock()
	if unhook != nil {
		unhook()
	}
	return true
}

// end ends the waits of all sleepers, in turn. Where what it runs ends the goroutine
// (runtime.Goexit), another goroutine goes on.
func (w *ward) end() {
	over := false
	defer func() {
		if !over {
			go w.end()
		}
	}()
	for awake := w.next(); awake != nil; awake = w.next() {
		awake()
	}
	over = true
}

// next takes the first sleeper out of the ward, and returns what wakes it.
func (w *ward) next() (awake func()) {
	wards.Lock()
	defer wards.Unlock()
	n := w.list.first
	if n == nil {
		return nil
	}
	w.leave(n)
	return n.owner
}

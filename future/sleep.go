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
	ward   *ward
	timer  *time.Timer // made at the first wait
	ctx    context.Context
	policy *retry.Policy
}

// A ward is a list of sleepers, and gone when that is empty.
type ward struct {
	list   list
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
func (w *ward) leave(n *node) (unhook func() bool) {
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

// sleep has the run wait: after d the timer calls awake, on a goroutine of its own;
// where the context ends first, t is run. Only the first wait needs awake.
func (s *sleeper) sleep(d time.Duration, t task, awake func()) {
	ctx, ended := s.ctx, s.ctx.Done()
	s.task = t
	wards.Lock()
	w, isNew := wardOf(ended)
	if w.policy != nil && *s.policy == *w.policy {
		s.policy = w.policy
	}
	w.policy, s.ward = s.policy, w
	w.list.push(&s.node)
	if s.timer == nil {
		s.timer = time.AfterFunc(d, awake)
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

// rise takes the run out of its ward when its time has come. It reports false where
// the end of the context was first.
func (s *sleeper) rise() bool {
	wards.Lock()
	if s.next == nil {
		wards.Unlock()
		return false
	}
	unhook := s.ward.leave(&s.node)
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
	for t := w.next(); t != nil; t = w.next() {
		t.run(nil)
	}
	over = true
}

// next takes the first sleeper out of the ward.
func (w *ward) next() task {
	wards.Lock()
	defer wards.Unlock()
	n := w.list.first
	if n == nil {
		return nil
	}
	w.leave(n)
	return n.task
}

package future

// A task is what is to run once a future has settled.
type task interface {
	// run runs it. What that brings up in turn it puts on w; without one, the task
	// has settled nothing yet that anybody knows.
	run(w *work)
}

// A node is a place in a list, for at most one list at a time, and what has it.
type node[O any] struct {
	prev, next *node[O]
	owner      O
}

// A list of nodes, in a ring: the first's prev is the last.
type list[O any] struct{ first *node[O] }

func (l *list[O]) push(n *node[O]) {
	n.prev, n.next = n, n
	l.join(list[O]{n})
}

// join appends the nodes of other, which is not used again.
func (l *list[O]) join(other list[O]) {
	switch {
	case other.first == nil:
	case l.first == nil:
		l.first = other.first
	default:
		a, b := l.first, other.first
		last, end := a.prev, b.prev
		last.next, b.prev = b, last
		end.next, a.prev = a, end
	}
}

// remove takes n, which is in the list, out of it.
func (l *list[O]) remove(n *node[O]) {
	if l.first == n {
		l.first = n.next
		if n.next == n {
			l.first = nil
		}
	}
	n.prev.next, n.next.prev = n.next, n.prev
	n.prev, n.next = nil, nil
}

// work is what a goroutine that settled a future has to run. It is a list and not a
// recursion, so that a chain of any length fits on the stack.
type work struct{ list list[task] }

// drain runs all that is in w. Where a task ends the goroutine (runtime.Goexit),
// another goroutine runs the rest.
func (w *work) drain() {
	if w.list.first == nil {
		return
	}
	defer func() {
		if w.list.first != nil {
			go w.drain()
		}
	}()
	for w.list.first != nil {
		n := w.list.first
		w.list.remove(n)
		n.owner.run(w)
	}
}

// run runs the tasks that settling a future has brought up: in their turn on w, or
// now if there is none. (Only then w is made, for it is on the heap.)
func (w *work) run(then list[task]) {
	switch {
	case then.first == nil:
	case w == nil:
		(&work{then}).drain()
	default:
		w.list.join(then)
	}
}

// after runs t once s has settled: at once, if it has.
func (s *state) after(w *work, n *node[task], t task) {
	n.owner = t
	s.mu.Lock()
	waits := s.isPending()
	if waits {
		s.then.push(n)
	}
	s.mu.Unlock()
	if !waits {
		t.run(w)
	}
}

// forget takes back what after was asked to do, if that has not begun.
func (s *state) forget(n *node[task]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isPending() { // once it is settled, the list is another's
		s.then.remove(n)
	}
}

package program

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
)

// signals takes what is sent to dacapo. While the program runs a signal is its business:
// it is handed to the attempt, and ends the run with it. Between attempts it ends the run
// at once.
type signals struct {
	cancel  context.CancelCauseFunc
	from    chan os.Signal
	forward chan os.Signal // for the attempt that runs

	mu      sync.Mutex
	running bool
	got     os.Signal // the first that ends the run; nil: none came
	waiting bool      // got came between two attempts
}

// catch begins to take signals, but for those that were to be ignored.
func catch(cancel context.CancelCauseFunc) *signals {
	s := &signals{cancel: cancel, from: make(chan os.Signal, 16), forward: make(chan os.Signal, 16)}
	for _, sig := range taken {
		if !signal.Ignored(sig) {
			signal.Notify(s.from, sig)
		}
	}
	go func() {
		for sig := range s.from {
			s.take(sig)
		}
	}()
	return s
}

func (s *signals) release() {
	signal.Stop(s.from)
	close(s.from)
}

func (s *signals) take(sig os.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ends(sig) && s.got == nil {
		if s.got, s.waiting = sig, !s.running; s.waiting {
			s.cancel(interrupted{sig})
		}
	}
	if s.running {
		select {
		case s.forward <- sig:
		default: // a flood of signals
		}
	}
}

// enter says that an attempt begins, and reports whether it may: no signal came just
// before it.
func (s *signals) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = s.got == nil
	return s.running
}

// leave says that an attempt has ended, which ends the run if a signal came in it.
func (s *signals) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running = false; s.got != nil {
		s.cancel(interrupted{s.got})
	}
}

// interrupted is the cause of a run's end by a signal.
type interrupted struct{ sig os.Signal }

func (i interrupted) Error() string { return fmt.Sprintf("interrupted by %s", name(i.sig)) }

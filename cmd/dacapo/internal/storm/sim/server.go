package sim

import "time"

// A Server does one thing after another, in the order in which they came, each in the same
// time. It does not know whether anybody still waits for the result. Its zero value stands
// still: give it a capacity.
type Server struct {
	sim   *Sim
	takes time.Duration // each; 0: it stands still
	busy  bool
	queue []func() // what is to be told when it is done
	head  int
}

// NewServer returns a server that does so many a second.
func NewServer(s *Sim, perSecond float64) *Server {
	v := &Server{sim: s}
	v.SetCapacity(perSecond)
	return v
}

// SetCapacity sets how many it does in a second, from the next on; with 0 it stands still.
func (v *Server) SetCapacity(perSecond float64) {
	v.takes = 0
	if perSecond > 0 {
		v.takes = time.Duration(float64(time.Second) / perSecond)
	}
	v.next()
}

// Serve puts a request at the end of the queue.
func (v *Server) Serve(done func()) {
	v.queue = append(v.queue, done)
	v.next()
}

// Waiting returns how many wait or are being served.
func (v *Server) Waiting() int { return len(v.queue) - v.head }

// next begins with the request at the head, if it can.
func (v *Server) next() {
	if v.busy || v.takes == 0 || v.Waiting() == 0 {
		return
	}
	v.busy = true
	v.sim.After(v.takes, v.finish)
}

func (v *Server) finish() {
	done := v.queue[v.head]
	v.queue[v.head] = nil
	v.head++
	if v.head == len(v.queue) || v.head >= 1<<16 && 2*v.head > len(v.queue) {
		n := copy(v.queue, v.queue[v.head:])
		clear(v.queue[n:])
		v.queue, v.head = v.queue[:n], 0
	}
	v.busy = false
	v.next()
	done()
}

package program

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
)

// A group is the processes of an attempt: a process group of its own or, where it shares
// dacapo's, the descendants of dacapo.
type group struct {
	leader  int // the program's process, and the number of its group
	running int // the same, while the program has not ended: os/exec waits for it
	shared  bool
	others  map[int]bool // descendants that dacapo had before: not of the attempt
}

// asking says how often it is looked whether a group has gone: there is no way to wait
// for the end of processes that are not ours.
var asking = retry.New().MaxRetries(retry.Unlimited).Backoff(backoff.Exponential(time.Millisecond, 2).Cap(20 * time.Millisecond))

var errThere = errors.New("it is still there")

// wait waits until the group has gone, and reports whether it has by then.
func (g *group) wait(until time.Time) bool {
	ctx, cancel := context.WithDeadline(context.Background(), until)
	defer cancel()
	return nil == retry.Run(ctx, asking, func(context.Context) error {
		if g.gone() {
			return nil
		}
		return errThere
	})
}

// clear ends what the program has left running.
func (a *attempt) clear() error {
	if a.group.gone() {
		return nil
	}
	if a.killAt.IsZero() {
		a.killAt = time.Now().Add(a.KillAfter)
	}
	a.group.send(syscall.SIGTERM)
	a.group.wake()
	if a.group.wait(a.killAt) {
		return nil
	}
	a.group.send(syscall.SIGKILL)
	if a.group.wait(time.Now().Add(time.Second)) {
		return nil
	}
	return a.fail(OwnFailure, fmt.Errorf("processes of the program, %d, do not end", a.group.leader))
}

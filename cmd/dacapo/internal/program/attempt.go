package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/dacapo-go/dacapo/retry"
)

// An attempt is the program, run once.
type attempt struct {
	*runner
	cmd     *exec.Cmd
	group   *group
	outputs []*output     // stdout and stderr
	seen    [2]seen       // in them
	close   []func()      // what is left open for the program, until it has begun
	done    func()        // ends its input
	cut     *Failure      // why it was interrupted; nil: it was not
	killAt  time.Time     // when what was asked to end is killed; zero: nothing was asked
	exited  chan struct{} // closed when the program has ended
}

// seen is what was found in an output.
type seen struct {
	onOutput, until, hinted bool
	hint                    time.Duration
}

// attempt runs the program once. It is the operation that is retried.
func (r *runner) attempt(ctx context.Context) error {
	if !r.signals.enter() {
		return context.Cause(ctx)
	}
	defer r.signals.leave()
	a := &attempt{runner: r, cmd: exec.Command(r.Args[0], r.Args[1:]...), exited: make(chan struct{}), done: func() {}}
	a.cmd.Env = append(os.Environ(), environment(ctx)...)
	err := a.open()
	if err == nil {
		err = a.start()
	} else {
		err = r.fail(OwnFailure, err)
	}
	a.opened()
	if err == nil {
		a.supervise(ctx)
		if sig, yes := hit(a.cmd.ProcessState); yes && a.shared {
			r.signals.take(sig) // it has come to dacapo as well, or will in a moment
		}
		err = a.clear()
	}
	lost := a.finish()
	if err != nil {
		return err
	}
	return a.outcome(lost)
}

// environment says to the program where it stands.
func environment(ctx context.Context) []string {
	info, _ := retry.AttemptFrom(ctx)
	left := "unlimited"
	if info.RetriesLeft != retry.Unlimited {
		left = strconv.Itoa(info.RetriesLeft)
	}
	return []string{"DACAPO_ATTEMPT=" + strconv.Itoa(info.Number), "DACAPO_RETRIES_LEFT=" + left}
}

// open makes the program's three streams.
func (a *attempt) open() error {
	if a.held != nil {
		if err := a.held.reset(); err != nil {
			return err
		}
	}
	for i, to := range []io.Writer{a.Stdout, a.Stderr} {
		o, err := a.output(i, to)
		if err != nil {
			return err
		}
		a.outputs = append(a.outputs, o)
	}
	a.cmd.Stdout, a.cmd.Stderr = a.outputs[0].file, a.outputs[1].file
	in, opened, done, err := a.stdin.open()
	if err != nil {
		return fmt.Errorf("stdin: %w", err)
	}
	a.cmd.Stdin, a.done = in, done
	a.close = append(a.close, opened)
	return nil
}

func (a *attempt) output(i int, to io.Writer) (*output, error) {
	see := a.look(i)
	if a.held != nil {
		return piped(stream{a.held, byte(i)}, see)
	}
	if f, ok := to.(*os.File); ok && see == nil {
		return direct(f), nil
	}
	return piped(to, see)
}

// look returns what looks at the lines of an output; nil: there is nothing to look for.
func (a *attempt) look(i int) func([]byte) {
	hints := i == 1 && !a.Raw
	if !hints && a.OnOutput == nil && a.Until == nil {
		return nil
	}
	s := &a.seen[i]
	return func(line []byte) {
		s.onOutput = s.onOutput || a.OnOutput != nil && a.OnOutput.Match(line)
		s.until = s.until || a.Until != nil && a.Until.Match(line)
		if hints {
			if wait, ok := retryAfter(line, time.Now()); ok {
				s.hint, s.hinted = wait, true
			}
		}
	}
}

// start starts the program.
func (a *attempt) start() error {
	a.group = newGroup(a.cmd, a.shared)
	err := a.cmd.Start()
	if err == nil {
		a.group.leader = a.cmd.Process.Pid
		a.group.running = a.group.leader
		go func() {
			_ = a.cmd.Wait() // its state is what counts
			close(a.exited)
		}()
		return nil
	}
	if busy(err) {
		return &Failure{Status: notExecutable, What: err.Error(), busy: true}
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return a.fail(notFound, fmt.Errorf("%s: not found", a.Args[0]))
	}
	return a.fail(notExecutable, fmt.Errorf("%s: cannot be executed: %w", a.Args[0], cause(err)))
}

// busy reports whether a program could not be started for want of something that may be
// there in a moment.
func busy(err error) bool {
	for _, e := range []syscall.Errno{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ETXTBSY} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// cause is a system's error without what was called.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// fail is a failure of our own, after which there is no retry.
func (r *runner) fail(status int, err error) error {
	r.own, r.lost = status, err
	return retry.Permanent(&Failure{Status: status, What: err.Error()})
}

// opened closes what only the program needs.
func (a *attempt) opened() {
	for _, o := range a.outputs {
		o.started()
	}
	for _, f := range a.close {
		f()
	}
}

// supervise waits for the end of the program. It hands signals on, and interrupts it when
// the time is over.
func (a *attempt) supervise(ctx context.Context) {
	var kill <-chan time.Time
	over := ctx.Done()
	for {
		select {
		case <-a.exited:
			return
		case <-a.children:
			a.group.reap()
			continue
		case sig := <-a.signals.forward:
			a.handOn(sig)
		case <-over:
			over = nil
			a.timeout(ctx)
		case <-kill:
			a.group.send(syscall.SIGKILL)
		}
		if kill == nil && !a.killAt.IsZero() {
			kill = time.After(time.Until(a.killAt))
		}
	}
}

// handOn hands a signal to the program, but for what the terminal has sent it already.
func (a *attempt) handOn(sig os.Signal) {
	if a.shared && fromKeyboard(sig) {
		return
	}
	a.interrupt(sig, &Failure{Status: bySignal + number(sig), What: "interrupted by " + name(sig)})
}

func (a *attempt) interrupt(sig os.Signal, f *Failure) {
	a.group.send(sig)
	if ends(sig) && a.cut == nil {
		a.group.wake()
		a.cut, a.killAt = f, time.Now().Add(a.KillAfter)
	}
}

// timeout interrupts the program, unless it was a signal that ended its context: that is
// handed on.
func (a *attempt) timeout(ctx context.Context) {
	switch why := context.Cause(ctx); {
	case errors.As(why, new(interrupted)):
	case errors.Is(why, retry.ErrAttemptTimeout):
		a.interrupt(syscall.SIGTERM, &Failure{Status: TimedOut, What: "it took longer than its attempt timeout"})
	default:
		a.interrupt(syscall.SIGTERM, &Failure{Status: TimedOut, What: why.Error()})
	}
}

// finish takes the rest of the outputs, and ends the input.
func (a *attempt) finish() error {
	var all []error
	for _, o := range a.outputs {
		all = append(all, o.finish())
	}
	a.done()
	return errors.Join(all...)
}

// outcome is what the attempt has come to: nil, or a failure with its hint. lost is why
// some of the output was.
func (a *attempt) outcome(lost error) error {
	if lost != nil && !errors.Is(lost, syscall.EPIPE) {
		return a.fail(OwnFailure, fmt.Errorf("the output cannot be passed on: %w", lost))
	}
	f := a.failure()
	if f == nil {
		return nil
	}
	f.output = a.seen[0].onOutput || a.seen[1].onOutput
	if lost != nil || a.outputs[0].pipe == nil && f.Status == brokenPipe && unread(a.outputs[0].file) {
		return retry.Permanent(f) // nobody reads what a retry would write
	}
	if a.seen[1].hinted {
		return retry.After(a.seen[1].hint, f)
	}
	return f
}

// failure says how the program failed; nil: it did not.
func (a *attempt) failure() *Failure {
	status, what := ended(a.cmd.ProcessState)
	switch {
	case a.cut != nil:
		return a.cut
	case status != 0:
		return &Failure{Status: status, What: what}
	case a.Until != nil && !a.seen[0].until && !a.seen[1].until:
		return &Failure{Status: notMatched, What: what + ", but no line matches --until", unmatched: true}
	}
	return nil
}

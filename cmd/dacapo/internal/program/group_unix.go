//go:build unix

package program

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// taken are the signals that dacapo takes. SIGPIPE only so that it does not end dacapo.
var taken = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE,
}

const brokenPipe = bySignal + int(syscall.SIGPIPE)

// ends reports whether a signal ends the run. The others are only handed on.
func ends(sig os.Signal) bool {
	switch sig {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
		return true
	}
	return false
}

func fromKeyboard(sig os.Signal) bool { return sig == syscall.SIGINT || sig == syscall.SIGQUIT }

func number(sig os.Signal) int { return int(sig.(syscall.Signal)) }

func name(sig os.Signal) string {
	if n := unix.SignalName(sig.(syscall.Signal)); n != "" {
		return n
	}
	return sig.String()
}

func signalNumber(name string) int { return int(unix.SignalNum(name)) }

// newGroup makes the command lead a process group, unless it shares dacapo's.
func newGroup(c *exec.Cmd, shared bool) *group {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: !shared}
	g := &group{shared: shared, others: map[int]bool{}}
	if shared {
		for _, p := range g.descendants() {
			g.others[p.pid] = true
		}
	}
	return g
}

// send sends a signal to all of the group.
func (g *group) send(sig os.Signal) {
	if sig == syscall.SIGPIPE {
		return
	}
	if !g.shared {
		_ = syscall.Kill(-g.leader, sig.(syscall.Signal)) // it may have gone
		return
	}
	for _, p := range g.descendants() {
		_ = syscall.Kill(p.pid, sig.(syscall.Signal))
	}
}

// wake lets the stopped go on, to hear what was sent to them.
func (g *group) wake() { g.send(syscall.SIGCONT) }

// gone reports whether nothing of the group is left, after the program itself has ended.
func (g *group) gone() bool {
	g.running = 0
	g.reap()
	if g.shared {
		return len(g.descendants()) == 0
	}
	err := syscall.Kill(-g.leader, 0)
	return errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) // EPERM: not ours, or only dead ones on some systems
}

// ended is a program's exit status, as a shell would say it, and in words.
func ended(s *os.ProcessState) (status int, what string) {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return bySignal + int(w.Signal()), "killed by " + name(w.Signal())
	}
	return s.ExitCode(), s.String()
}

// foreground reports whether dacapo is in the foreground of a terminal.
func foreground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer func() { _ = tty.Close() }()
	pgrp, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && pgrp == unix.Getpgrp()
}

// unread reports whether f is a pipe that nobody reads any more.
func unread(f *os.File) bool {
	all := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(all, 0)
	return err == nil && n == 1 && all[0].Revents&unix.POLLERR != 0
}

// readNow reads what is there.
func readNow(fd uintptr, b []byte) (int, error) { return syscall.Read(int(fd), b) }

// raise ends dacapo by SIGINT, so that a shell knows what to do with a loop around it.
func raise() {
	signal.Reset(syscall.SIGINT)
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	time.Sleep(time.Second) // another thread may take it
}

// hit reports whether a signal of the keyboard has ended a program.
func hit(s *os.ProcessState) (os.Signal, bool) {
	w, ok := s.Sys().(syscall.WaitStatus)
	return w.Signal(), ok && w.Signaled() && fromKeyboard(w.Signal())
}

package program

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// Windows has neither process groups nor these signals: what is sent ends the program, and
// what it leaves behind is left. The console tells the program of Ctrl-C itself.

var taken = []os.Signal{os.Interrupt, syscall.SIGTERM}

const brokenPipe = -1 // no exit status

func ends(os.Signal) bool { return true }

func fromKeyboard(sig os.Signal) bool { return sig == os.Interrupt }

func number(sig os.Signal) int { return int(sig.(syscall.Signal)) }

func name(sig os.Signal) string { return sig.String() }

func signalNumber(name string) int {
	return map[string]int{"SIGINT": 2, "SIGKILL": 9, "SIGTERM": 15}[name]
}

func newGroup(_ *exec.Cmd, shared bool) *group { return &group{shared: shared} }

func (g *group) send(os.Signal) {
	if g.running == 0 {
		return
	}
	if p, err := os.FindProcess(g.running); err == nil {
		_ = p.Kill()
		_ = p.Release()
	}
}

func (g *group) wake() {}

func (g *group) reap() {}

func (g *group) gone() bool { return true }

func adopt() <-chan os.Signal { return nil }

func ended(s *os.ProcessState) (status int, what string) { return s.ExitCode(), s.String() }

func foreground() bool { return true }

func unread(*os.File) bool { return false }

func readNow(uintptr, []byte) (int, error) { return 0, errors.ErrUnsupported }

func raise() {}

func hit(*os.ProcessState) (os.Signal, bool) { return nil, false }

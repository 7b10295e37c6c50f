package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// onTerminal makes a command the leader of a session on a terminal, of which it returns the
// keyboard.
func onTerminal(t *testing.T, c *exec.Cmd) (keyboard *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	t.Cleanup(func() { _ = keyboard.Close() })
	fd := int(keyboard.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tty.Close() })
	c.Stdin = tty
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return keyboard
}

func TestEveryAttemptCanReadTheTerminal(t *testing.T) {
	t.Parallel()
	ready := fifo(t)
	c := dacapo(t, running(t, fast, "line; exit 1", "say "+ready+"; line")...)
	keyboard := onTerminal(t, c)
	var out bytes.Buffer
	c.Stdout = &out
	require.NoError(t, c.Start())
	_, err := keyboard.WriteString("one\n")
	require.NoError(t, err)
	hear(t, ready)
	_, err = keyboard.WriteString("two\n")
	require.NoError(t, err)
	assert.NoError(t, c.Wait())
	assert.Equal(t, "read one\nread two\n", out.String())
}

func TestCtrlCEndsTheProgramAndThenDacapo(t *testing.T) {
	t.Parallel()
	ready := fifo(t)
	c := dacapo(t, running(t, fast, "say "+ready+"; hang", "exit 0")...)
	keyboard := onTerminal(t, c)
	require.NoError(t, c.Start())
	hear(t, ready)
	_, err := keyboard.WriteString("\x03")
	require.NoError(t, err)
	_ = c.Wait()
	w := c.ProcessState.Sys().(syscall.WaitStatus)
	assert.True(t, w.Signaled() && w.Signal() == syscall.SIGINT, "so that a shell ends its loop: %v", c.ProcessState)
}

func TestCtrlCReachesAProgramThatTrapsItOnce(t *testing.T) {
	t.Parallel()
	ready, goOn := fifo(t), fifo(t)
	c := dacapo(t, running(t, fast, "trap INT; trap USR1; say "+ready+"; wait; say "+goOn+"; wait")...)
	keyboard := onTerminal(t, c)
	var out bytes.Buffer
	c.Stdout = &out
	require.NoError(t, c.Start())
	hear(t, ready)
	_, err := keyboard.WriteString("\x03")
	require.NoError(t, err)
	hear(t, goOn)
	require.NoError(t, c.Process.Signal(syscall.SIGUSR1))
	assert.NoError(t, c.Wait(), "a success is a success")
	assert.Equal(t, "got SIGINT\ngot SIGUSR1\n", out.String())
}

func TestAProgramThatSIGINTHasEndedOnATerminalIsNotRetried(t *testing.T) {
	t.Parallel()
	c := dacapo(t, running(t, fast, "kill INT", "out again")...) // dacapo may not have heard of it
	onTerminal(t, c)
	var out bytes.Buffer
	c.Stdout = &out
	assert.ErrorContains(t, c.Run(), "signal: interrupt")
	assert.Empty(t, out.String())
}

func TestOnATerminalNothingIsLeftBehindEither(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pids")
	inner := dacapo(t, running(t, fast+"--kill-after 20ms --retries 1", stubborn(file, "exit 1"))...)
	// What the shell has started before dacapo is dacapo's child, and none of the program's.
	c := exec.Command("sh", append([]string{"-c", `trap "" HUP; sleep 3600 & echo $!; exec "$@" >/dev/null`, "sh"}, inner.Args...)...)
	c.Env = inner.Env
	onTerminal(t, c)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	var before int
	_, err = fmt.Fscan(out, &before)
	require.NoError(t, err)
	state, err := c.Process.Wait()
	require.NoError(t, err)
	assert.Equal(t, 1, state.ExitCode())
	pids := noted(t, file)
	assert.Len(t, pids, 2)
	for _, pid := range pids {
		assert.False(t, alive(t, pid))
	}
	assert.True(t, alive(t, strconv.Itoa(before)))
	_ = syscall.Kill(before, syscall.SIGKILL)
}

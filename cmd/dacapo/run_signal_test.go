//go:build unix

package main

import (
	"bufio"
	"bytes"
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

// alive reports whether there is a process.
func alive(t *testing.T, pid string) bool {
	t.Helper()
	n, err := strconv.Atoi(pid)
	require.NoError(t, err)
	return syscall.Kill(n, 0) == nil
}

// signalled starts a command, sends it signals when the program has said that it is ready,
// and waits for its end.
func signalled(t *testing.T, c *exec.Cmd, ready string, sigs ...os.Signal) ran {
	t.Helper()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	require.NoError(t, c.Start())
	hear(t, ready)
	for _, sig := range sigs {
		require.NoError(t, c.Process.Signal(sig))
	}
	_ = c.Wait()
	return ran{c.ProcessState.ExitCode(), out.String(), errs.String()}
}

func TestASignalIsHandedOnAndEndsTheRun(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		name, ready := unix.SignalName(sig), fifo(t)
		for _, status := range []string{"7", "0"} {
			c := dacapo(t, running(t, fast, "trap "+name[3:]+"; say "+ready+"; wait; exit "+status)...)
			r := signalled(t, c, ready, sig)
			assert.Equal(t, 128+int(sig), r.status, name)
			assert.Equal(t, "got "+name+"\n", r.out, "once, and no retry")
			assert.Contains(t, r.errs, "attempt 1: interrupted by "+name+"; interrupted by "+name+", after ")
		}
	}
}

func TestWhatDoesNotHearIsKilled(t *testing.T) {
	t.Parallel()
	ready := fifo(t)
	c := dacapo(t, running(t, fast+"--kill-after 20ms", "ignore TERM; say "+ready+"; hang")...)
	assert.Equal(t, 143, signalled(t, c, ready, syscall.SIGTERM).status)
}

func TestASignalThatEndsNothingIsOnlyHandedOn(t *testing.T) {
	t.Parallel()
	ready := fifo(t)
	c := dacapo(t, running(t, fast, "trap USR1; say "+ready+"; wait; exit 3", "exit 0")...)
	r := signalled(t, c, ready, syscall.SIGUSR1)
	assert.Zero(t, r.status)
	assert.Equal(t, "got SIGUSR1\n", r.out)
}

func TestASignalThatIsIgnoredStaysIgnored(t *testing.T) {
	t.Parallel()
	ready := fifo(t)
	inner := dacapo(t, running(t, fast, "trap USR1; say "+ready+"; wait")...)
	c := exec.Command("sh", append([]string{"-c", `trap "" HUP; exec "$@"`, "sh"}, inner.Args...)...) // as nohup does
	c.Env = inner.Env
	r := signalled(t, c, ready, syscall.SIGHUP, syscall.SIGUSR1)
	assert.Equal(t, ran{0, "got SIGUSR1\n", ""}, r)
}

func TestASignalEndsAWait(t *testing.T) {
	t.Parallel()
	c := dacapo(t, running(t, "--backoff constant(1h)", "exit 3")...)
	errs, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	lines := bufio.NewReader(errs)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "dacapo: attempt 1: exit status 3; retry 1 of 3 in 1h\n", line)
	require.NoError(t, c.Process.Signal(syscall.SIGTERM))
	line, err = lines.ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, line, "attempt 1: exit status 3; interrupted by SIGTERM, after ")
	_ = c.Wait()
	assert.Equal(t, 143, c.ProcessState.ExitCode())
}

func TestAnAttemptIsAGroupOfItsOwn(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "groups")
	runs(t, fast+"--retries 1", "group "+file+"; exit 1")
	groups := noted(t, file)
	require.Len(t, groups, 2)
	assert.NotEqual(t, groups[0], groups[1])
	assert.NotContains(t, groups, strconv.Itoa(syscall.Getpgrp()))
}

// stubborn is a script of a program that leaves one running which hears nothing.
func stubborn(file, then string) string {
	return "spawn ignore TERM & ignore INT & note " + file + " $PID & ready & hang; " + then
}

func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flags, then string
		atLeast     int // so many are left
	}{
		"by a success":          {"", "exit 0", 1},
		"by failures":           {"--retries 1", "exit 1", 2},
		"by one that is killed": {"--retries 1", "kill KILL", 2},
		"with held output":      {"--hold", "exit 0", 1},
		"at a timeout":          {"--retries 1 --attempt-timeout 300ms", "hang", 0}, // none, where 300ms are nothing
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pids")
			require.NoError(t, os.WriteFile(file, nil, 0o600))
			runs(t, fast+"--kill-after 20ms "+c.flags, stubborn(file, c.then))
			pids := noted(t, file)
			assert.GreaterOrEqual(t, len(pids), c.atLeast)
			for _, pid := range pids {
				assert.False(t, alive(t, pid), pid)
			}
		})
	}
}

func TestNothingIsLeftBehindBySignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		ready, file := fifo(t), filepath.Join(t.TempDir(), "pids")
		c := dacapo(t, running(t, fast+"--kill-after 20ms", stubborn(file, "say "+ready+"; hang"))...)
		assert.Equal(t, 128+int(sig), signalled(t, c, ready, sig).status)
		pids := noted(t, file)
		assert.Len(t, pids, 1)
		assert.False(t, alive(t, pids[0]))
	}
}

func TestWhatIsLeftGetsTimeToEnd(t *testing.T) {
	t.Parallel()
	r := runs(t, fast+"--kill-after 1h", "spawn trap TERM & ready & wait & out cleaned up; exit 0")
	assert.Equal(t, ran{0, "got SIGTERM\ncleaned up\n", ""}, r)
}

func TestADaemonIsLeftAloneAndNotWaitedFor(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pids")
	r := runs(t, fast+"--hold", "daemon note "+file+" $PID & ready & hang; out started; exit 0")
	assert.Equal(t, ran{0, "started\n", ""}, r)
	pid := noted(t, file)[0]
	assert.True(t, alive(t, pid))
	n, _ := strconv.Atoi(pid)
	assert.NoError(t, syscall.Kill(n, syscall.SIGKILL))
}

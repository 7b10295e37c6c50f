//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// input is text of a length, without a repetition that would hide a shift.
func input(length int) string {
	var b strings.Builder
	for i := 0; b.Len() < length; i++ {
		b.WriteString(strconv.Itoa(i) + "\n")
	}
	return b.String()[:length]
}

func TestEveryAttemptHasTheSameInput(t *testing.T) {
	t.Parallel()
	const length = 300_000 // more than a pipe takes
	for name, first := range map[string]string{"read": "cat; exit 1", "read in part": "take 70000; exit 1", "not read": "exit 1"} {
		c := dacapo(t, running(t, fast+"--hold", first, first, "cat")...)
		c.Stdin = strings.NewReader(input(length)) // a pipe
		r := ends(t, c)
		assert.Zero(t, r.status, name)
		assert.True(t, input(length) == r.out, "%s: %d bytes", name, len(r.out))
	}
}

func TestAFileIsRewoundToWhereItWas(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "input")
	require.NoError(t, os.WriteFile(name, []byte("head\ntail\n"), 0o600))
	f, err := os.Open(name)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	_, err = f.Seek(5, io.SeekStart)
	require.NoError(t, err)
	c := dacapo(t, running(t, fast+"--stdin-limit 0", "cat; exit 1", "cat")...)
	c.Stdin = f
	r := ends(t, c)
	assert.Zero(t, r.status)
	assert.Equal(t, "tail\ntail\n", r.out)
}

func TestARetryThatCannotHaveTheInputIsRefused(t *testing.T) {
	t.Parallel()
	with := func(length int, flags string, scripts ...string) ran {
		c := dacapo(t, running(t, fast+"--log none --stdin-limit 1KiB "+flags, scripts...)...)
		c.Stdin = strings.NewReader(input(length))
		return ends(t, c)
	}
	r := with(1025, "", "cat; exit 1", "exit 0")
	assert.Equal(t, 125, r.status)
	assert.Equal(t, input(1025), r.out, "the first attempt has all of it")
	assert.Contains(t, r.errs, "dacapo: no retry: stdin is longer than --stdin-limit, 1024 bytes")

	assert.Zero(t, with(1024, "", "cat; exit 1", "cat").status, "at the limit")
	assert.Equal(t, ran{0, input(5000), ""}, with(5000, "", "cat"), "no retry is due")
	assert.Equal(t, ran{6, input(5000), ""}, with(5000, "--retries 0", "cat; exit 6"), "none is allowed")
	assert.Equal(t, ran{6, input(5000), ""}, with(5000, "--max-elapsed 1ns", "cat; exit 6"), "there is no time for one")
	assert.Equal(t, ran{6, input(5000), ""}, with(5000, "--except 6", "cat; exit 6"), "it is not wanted")
}

func TestOutputComesAsItIsMade(t *testing.T) {
	t.Parallel()
	for _, flags := range []string{"", "--until second"} { // the program's own stdout, and a pipe
		goOn := fifo(t)
		c := dacapo(t, running(t, flags, "out first; hear "+goOn+"; out second")...)
		out, err := c.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, c.Start())
		lines := bufio.NewReader(out)
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		assert.Equal(t, "first\n", line)
		require.NoError(t, os.WriteFile(goOn, nil, 0))
		rest, err := io.ReadAll(lines)
		require.NoError(t, err)
		assert.Equal(t, "second\n", string(rest))
		assert.NoError(t, c.Wait())
	}
}

func TestWhatIsStillInAPipeWhenTheProgramEndsIsPassedOn(t *testing.T) {
	t.Parallel()
	file, said := filepath.Join(t.TempDir(), "pid"), fifo(t)
	const length = 140_000 // more than one pipe takes, and less than two
	c := dacapo(t, running(t, "--on-output x", "note "+file+" $PID; fill "+strconv.Itoa(length)+"; say "+said)...)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	hear(t, said)
	for pid := noted(t, file)[0]; alive(t, pid); {
		runtime.Gosched() // until it has ended
	}
	all, err := io.ReadAll(out)
	require.NoError(t, err)
	assert.True(t, input(length) == string(all), "%d bytes", len(all))
	assert.NoError(t, c.Wait())
}

func TestHeldOutputIsThatOfTheLastAttempt(t *testing.T) {
	t.Parallel()
	const flags = fast + "--hold --log none --retries 1"
	r := runs(t, flags, "out bad; err bad; exit 1", "out good; err fine")
	assert.Equal(t, ran{0, "good\n", "fine\n"}, r)
	r = runs(t, flags, "out bad; exit 1", "out worse; exit 2")
	assert.Equal(t, ran{2, "worse\n", ""}, r, "also of one that failed")
	assert.Equal(t, ran{0, "", ""}, runs(t, flags, "flood 3; exit 1", "exit 0"))
}

func TestMuchHeldOutputWaitsInAFileThatGoes(t *testing.T) {
	t.Parallel()
	c := dacapo(t, running(t, fast+"--hold --log none", "flood 3; exit 1", "out first; flood 3; err aside; out last")...)
	tmp := t.TempDir()
	c.Env = append(c.Env, "TMPDIR="+tmp)
	r := ends(t, c)
	assert.Zero(t, r.status)
	assert.Len(t, r.out, len("first\n")+3_000_000+len("last\n"))
	assert.True(t, strings.HasPrefix(r.out, "first\n") && strings.HasSuffix(r.out, "x\nlast\n"))
	assert.Equal(t, "aside\n", r.errs)
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestWhatNobodyReadsIsNotRetried(t *testing.T) {
	t.Parallel()
	for _, flags := range []string{"", "--on-output x"} {
		c := dacapo(t, running(t, fast+flags, "flood 3")...)
		r, w, err := os.Pipe()
		require.NoError(t, err)
		require.NoError(t, r.Close())
		c.Stdout = w
		var errs strings.Builder
		c.Stderr = &errs
		err = c.Run()
		require.NoError(t, w.Close())
		assert.ErrorContains(t, err, "exit status 141")
		assert.Contains(t, errs.String(), "attempt 1: killed by SIGPIPE; not to be retried")
	}
}

//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dacapo is the command as a process of its own.
func dacapo(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command(self, args...)
	c.Env = append(os.Environ(), testRole+"=dacapo", "TMPDIR="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
	return c
}

// running gives the arguments of dacapo run: its flags, and the scripts of the attempts.
func running(t *testing.T, flags string, scripts ...string) []string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	args := append([]string{"run"}, words(flags)...)
	return append(append(args, "--", self), scripts...)
}

// ran is what a dacapo run has come to.
type ran struct {
	status    int
	out, errs string
}

// runs plays scripts under dacapo run.
func runs(t *testing.T, flags string, scripts ...string) ran {
	t.Helper()
	return ends(t, dacapo(t, running(t, flags, scripts...)...))
}

// ends runs a command to its end.
func ends(t *testing.T, c *exec.Cmd) ran {
	t.Helper()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if _, ok := err.(*exec.ExitError); !ok {
		require.NoError(t, err)
	}
	return ran{c.ProcessState.ExitCode(), out.String(), errs.String()}
}

// fast is flags for retries without a wait.
const fast = "--backoff none "

// noted are the lines of a file that programs have noted.
func noted(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return strings.Fields(string(text))
}

// fifo makes a named pipe: a hand-shake between a test and a program.
func fifo(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	return name
}

// hear waits until a program says something.
func hear(t *testing.T, fifo string) {
	t.Helper()
	_, err := os.ReadFile(fifo)
	require.NoError(t, err)
}

func TestAProgramIsRunUntilItSucceeds(t *testing.T) {
	t.Parallel()
	r := ends(t, dacapo(t, "run", "--retries", "5", "--backoff", "exp(50ms,2).cap(1s).jitter(full)", "--", "sh", "-c", "echo call; test $DACAPO_ATTEMPT -ge 3"))
	assert.Zero(t, r.status)
	assert.Equal(t, "call\ncall\ncall\n", r.out)
	assert.Regexp(t, `\Adacapo: attempt 1: exit status 1; retry 1 of 5 in [\d.]+[µm]s\ndacapo: attempt 2: exit status 1; retry 2 of 5 in [\d.]+[µm]s\n\z`, r.errs)
}

func TestASuccessIsSilent(t *testing.T) {
	t.Parallel()
	assert.Equal(t, ran{0, "hello\n", "there\n"}, runs(t, "", "out hello; err there"))
}

func TestTheExitStatusIsThatOfTheLastAttempt(t *testing.T) {
	t.Parallel()
	r := runs(t, fast+"--retries 2", "exit 3", "exit 4", "exit 5", "exit 6")
	assert.Equal(t, 5, r.status)
	assert.Regexp(t, "attempt 3: exit status 5; no retry is left, after ", r.errs)
}

func TestAProgramKilledByASignalIs128AndItsNumber(t *testing.T) {
	t.Parallel()
	r := runs(t, fast+"--retries 1", "exit 3", "kill KILL")
	assert.Equal(t, 137, r.status)
	assert.Contains(t, r.errs, "attempt 2: killed by SIGKILL; no retry is left")
}

func TestWhatIsNotFoundOrNotExecutableIsNotRetried(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(plain, []byte("text"), 0o600))
	for program, want := range map[string]ran{
		"no-such-program-of-ours": {127, "", "dacapo: no-such-program-of-ours: not found\n"},
		plain + ".none":           {127, "", "dacapo: " + plain + ".none: not found\n"},
		plain:                     {126, "", "dacapo: " + plain + ": cannot be executed: permission denied\n"},
	} {
		assert.Equal(t, want, ends(t, dacapo(t, "run", "--", program)))
	}
}

func TestAShellsOwn126And127AreNotRetriedEither(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"126", "127"} {
		r := runs(t, fast, "exit "+status, "exit 0")
		assert.Equal(t, status, strconv.Itoa(r.status))
		assert.Contains(t, r.errs, "not to be retried")
		assert.Zero(t, runs(t, fast+"--on "+status, "exit "+status, "exit 0").status, "but where it is asked for")
	}
}

func TestBadUsageIs125(t *testing.T) {
	t.Parallel()
	for flags, says := range map[string]string{
		"":                             "no program is given",
		"--retries some -- true":       `--retries is "some": want a number of at least 0, or unlimited`,
		"--no-such-flag -- true":       "unknown flag",
		"--policy 'retries=x' -- true": "--policy: column 9: ",
		"--backoff exp(1s) -- true":    "--backoff: column ",
		"--on 1,0 -- true":             `--on: "0" is no status: want a number from 1 to 255`,
		"--on 9-3 -- true":             `--on: "9-3": want a range from the lower`,
		"--until '(' -- true":          "--until: error parsing regexp",
		"--timeout 0s -- true":         "--timeout: 0s: want more than 0",
		"--kill-after -1s -- true":     "--kill-after: -1s: want 0 or more",
		"--stdin-limit 16MB -- true":   `--stdin-limit: "16MB" is no size`,
		"--log loud -- true":           `--log is "loud": want text, json or none`,
		"--max-elapsed 0s -- true":     "leave it out for no limit",
		"--raw --hold -- true":         "[hold raw] were all set",
	} {
		r := ends(t, dacapo(t, append([]string{"run"}, words(flags)...)...))
		assert.Equal(t, 125, r.status, flags)
		assert.Contains(t, r.errs, says, flags)
		assert.Contains(t, r.errs, "Try 'dacapo run --help'.", flags)
		assert.Empty(t, r.out, flags)
	}
}

func TestABadPolicyIsPointedAtUnderItsText(t *testing.T) {
	t.Parallel()
	r := ends(t, dacapo(t, "run", "--policy", "retries=2 backof=none hints=x", "--", "true"))
	assert.Regexp(t, `(?s)\Adacapo: --policy: column 11: .*
    retries=2 backof=none hints=x
              \^
--policy: column 29: .*
    retries=2 backof=none hints=x
                                \^
Try`, r.errs)
}

func TestWhichStatusesAreRetried(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags, first string
		status       int // the second attempt succeeds
	}{
		{"", "exit 1", 0},
		{"", "exit 255", 0},
		{"--on 1,7,100-110", "exit 100", 0},
		{"--on 1,7,100-110", "exit 110", 0},
		{"--on 1,7,100-110", "exit 99", 99},
		{"--on 1,7,100-110", "exit 111", 111},
		{"--except 3,100-110", "exit 100", 100},
		{"--except 3,100-110", "exit 2", 0},
		{"--on 1-9 --except 4", "exit 4", 4},
		{"--on SIGTERM", "kill TERM", 0},
		{"--on term", "exit 143", 0},
		{"--on HUP", "kill TERM", 143},
		{"--except KILL", "kill KILL", 137},
		{"--on 1", "exit 75", 0},
		{"--on-output x", "exit 75", 0},
		{"--except 75", "exit 75", 75},
	} {
		assert.Equal(t, c.status, runs(t, fast+c.flags, c.first, "exit 0").status, "%s: %s", c.flags, c.first)
	}
}

func TestTheOutputSaysWhatIsRetried(t *testing.T) {
	t.Parallel()
	const flags = fast + "--on-output 'connection (reset|refused)$'"
	assert.Zero(t, runs(t, flags, "out a connection refused; out more; exit 1", "exit 0").status)
	assert.Zero(t, runs(t, flags, "err a connection reset; exit 1", "exit 0").status)
	assert.Equal(t, 1, runs(t, flags, "out the connection reset it; exit 1", "exit 0").status)
	r := runs(t, flags, "out a connection refused; exit 2", "exit 3", "exit 0")
	assert.Equal(t, 3, r.status, "what an earlier attempt said does not count")
	assert.Equal(t, "a connection refused\n", r.out)
}

func TestASuccessIsRepeatedUntilItsOutputMatches(t *testing.T) {
	t.Parallel()
	r := runs(t, fast+"--until 'ready$'", "out not yet", "exit 1", "out ready", "out never")
	assert.Zero(t, r.status)
	assert.Equal(t, "not yet\nready\n", r.out)
	assert.Contains(t, r.errs, "attempt 1: exit status 0, but no line matches --until; retry 1 of 3")

	assert.Equal(t, 1, runs(t, fast+"--until ready --retries 1", "out no").status)
	assert.Equal(t, 4, runs(t, fast+"--until ready --retries 0", "out ready; exit 4").status, "a match is not enough")
	assert.Zero(t, runs(t, fast+"--until ready --on 9", "out no", "out ready").status, "--on is about failures")
}

func TestAProgramSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	r := runs(t, fast, "err < Retry-After: 0.02; exit 1", "exit 0")
	assert.Zero(t, r.status)
	assert.Contains(t, r.errs, "retry 1 of 3 in 20ms, as it asks\n")

	r = runs(t, fast, "err retry-after: 3600; exit 6", "exit 0")
	assert.Equal(t, 6, r.status)
	assert.Contains(t, r.errs, "it asks to wait for longer than the policy's hints may")

	assert.Zero(t, runs(t, "--policy 'backoff=none hints=ignore'", "err Retry-After: 3600; exit 6", "exit 0").status)
	assert.Zero(t, runs(t, fast, "out Retry-After: 3600; exit 6", "exit 0").status, "stdout is the program's own")
	assert.Zero(t, runs(t, fast+"--raw", "err Retry-After: 3600; exit 6", "exit 0").status)
}

func TestAProgramKnowsWhereItStands(t *testing.T) {
	t.Parallel()
	const says = "out $DACAPO_ATTEMPT $DACAPO_RETRIES_LEFT; exit 1"
	assert.Equal(t, "1 2\n2 1\n3 0\n", runs(t, fast+"--retries 2", says).out)
	assert.Equal(t, "1 unlimited\n2 unlimited\n", runs(t, fast+"--retries unlimited", says, says, "exit 0").out)
}

func TestASettingOfItsOwnReplacesThePolicys(t *testing.T) {
	t.Parallel()
	r := runs(t, "--policy 'retries=9 backoff=constant(1h)' --retries 1 --backoff constant(1ms)", "out call; exit 1")
	assert.Equal(t, "call\ncall\n", r.out)
	assert.Contains(t, r.errs, "retry 1 of 1 in 1ms\n")
}

func TestMaxElapsedIsABudgetForRetries(t *testing.T) {
	t.Parallel()
	r := runs(t, "--max-elapsed 1h --backoff constant(2h)", "exit 3")
	assert.Equal(t, 3, r.status)
	assert.Contains(t, r.errs, "max-elapsed leaves no time for a retry")
}

func TestATimeoutThatLeavesNoTimeForARetryIs124(t *testing.T) {
	t.Parallel()
	r := runs(t, "--timeout 1h --backoff constant(2h)", "exit 3")
	assert.Equal(t, 124, r.status)
	assert.Contains(t, r.errs, "--timeout leaves no time for a retry")
}

func TestAnAttemptThatTakesTooLongIsEndedAndRetried(t *testing.T) {
	t.Parallel()
	r := runs(t, fast+"--attempt-timeout 50ms --retries 1", "hang")
	assert.Equal(t, 124, r.status)
	assert.Contains(t, r.errs, "attempt 1: it took longer than its attempt timeout; retry 1 of 1")
	assert.Contains(t, r.errs, "attempt 2: it took longer than its attempt timeout; no retry is left")
	assert.Equal(t, 124, runs(t, fast+"--attempt-timeout 50ms --except 124", "hang").status)
}

func TestARunThatTakesTooLongIsEnded(t *testing.T) {
	t.Parallel()
	r := runs(t, "--timeout 50ms --retries unlimited", "hang")
	assert.Equal(t, 124, r.status)
	assert.Contains(t, r.errs, "attempt 1: --timeout is over; --timeout is over, after ")
}

func TestEventsAsJSON(t *testing.T) {
	t.Parallel()
	r := runs(t, fast+"--log json", "exit 3", "exit 0")
	var kinds []string
	for line := range strings.Lines(r.errs) {
		var event map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &event), line)
		assert.Contains(t, event, "program")
		kinds = append(kinds, event["msg"].(string))
	}
	assert.Len(t, kinds, 5, "started, failed, scheduled, started, finished: %v", kinds)
	assert.Equal(t, ran{3, "", ""}, runs(t, fast+"--log none", "exit 3"))
}

package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/program"
	"github.com/dacapo-go/dacapo/retry"
)

// programPolicy is the default policy of run: a program takes longer to recover than
// a call to a service does, and many of them are started by the same clock.
const programPolicy = "retries=3 backoff=exp(1s,2).cap(1m).jitter(equal)"

const runLong = `Run runs a program, and runs it again while it fails, as a retry policy says. Its exit
status is that of the program's last attempt. While all is well it says nothing; before
each retry, and when it gives up, it writes one line to stderr.

Policy: --policy is a whole policy, and what its text leaves out is 3 retries and a constant
wait of 1s, as everywhere; 'dacapo plan' shows what one does. Without it, the policy is
` + programPolicy + `. The flags --retries, --backoff,
--max-elapsed and --attempt-timeout replace one setting each.

What is retried: every exit status but 0, but for 126 and 127 (what is not executable or not
found is not so in a second). --on and --except take lists and ranges of statuses and names
of signals (1,75,100-110,TERM; a name stands for 128 and the signal's number); --except wins.
--on-output retries a failure only if a line of the attempt's output, stdout or stderr,
matches. --until wants a line to match as well as status 0: it repeats what succeeds, until
it says what you wait for. Patterns are regular expressions as in Go (RE2), looked for in
each line; of a line above 64KiB, in its pieces of that length.

Time: --attempt-timeout and --timeout interrupt the program, with SIGTERM, and with SIGKILL
after --kill-after; an attempt that was interrupted has failed, with status 124, whatever it
says itself. --max-elapsed interrupts nothing: it is a budget, after which no retry begins.

Hints: a program can say when to call it again, by a line "Retry-After: N" on stderr (N in
seconds or a date; what curl -v and wget -S print is read, too; the last such line counts),
and that it should be, by exit status 75 (EX_TEMPFAIL), which is retried even if --on and
--on-output do not, unless --except does. A wait is never shorter than the hint; hints=… in
the policy says how long a hint may be (5m).

Input: stdin is kept, up to --stdin-limit, and given to each attempt anew; beyond it the first
attempt gets all of it, and a retry is refused (125). A file is not kept but rewound. A
terminal is left to the program. Since dacapo reads stdin for the program, give it </dev/null
in a shell's loop over lines.

Output: stdout is the program's own. Its stderr comes through a pipe, for hints; --raw gives
it dacapo's own, for programs that colour or draw on a terminal. With a pattern or --hold,
both come through pipes. --hold shows the output of the last attempt only, at the end (above
1MiB it waits in a temporary file).

Environment: DACAPO_ATTEMPT is the number of the attempt, from 1; DACAPO_RETRIES_LEFT how
many may follow it, or "unlimited".

Signals: SIGINT, SIGTERM, SIGHUP and SIGQUIT are handed on to the program, and end the
retries; what has not ended after --kill-after is killed. SIGUSR1 and SIGUSR2 are handed on.
What was to be ignored when dacapo began (nohup) still is. Each attempt is a process group,
which is ended with it: also what a program that has ended by itself left running. Only what
began a session of its own (setsid, a daemon) is left alone. In the foreground of a terminal
the program stays in dacapo's own group instead, so that it can read the terminal, and Ctrl-C
and Ctrl-Z are the terminal's business: dacapo kills nothing for Ctrl-C, and retries nothing
after it. There, what is left running is found as dacapo's descendants on Linux, and not
found elsewhere. If dacapo itself is killed (SIGKILL), the program goes on. Windows has
neither groups nor these signals: there the program is killed, and what it left is left.

Exit status:

    the program's    of its last attempt
    1                it succeeded, but --until never matched
    124              an attempt timeout ended the last attempt, or --timeout the run
    125              dacapo's own failure, or bad usage
    126              the program cannot be executed
    127              the program is not found
    128+n            signal n ended the last attempt or the run`

const runExample = `  dacapo run -- curl -fsS https://example.org/health
  dacapo run --retries 5 --backoff 'exp(50ms,2).cap(1s).jitter(full)' -- sh -c 'test $DACAPO_ATTEMPT -ge 3'
  dacapo run --policy 'retries=unlimited backoff=constant(2s) max-elapsed=5m' --attempt-timeout 10s -- pg_isready -h db
  dacapo run --until '"status": *"ready"' --timeout 10m -- curl -fsS https://example.org/job/7
  dacapo run --on 75,100-110,KILL --on-output 'connection (reset|refused)' -- ./deploy.sh
  dacapo run --hold --log json -- go test ./... 2>run.log
  pg_dump shop | dacapo run --stdin-limit 256MiB -- ssh backup 'cat > shop.sql'`

// runFlags are the flags of run as they were given.
type runFlags struct {
	policy, retries, backoff                   string
	maxElapsed, attemptTimeout                 time.Duration
	timeout, killAfter                         time.Duration
	on, except, onOutput, until, log, stdinMax string
	hold, raw                                  bool
}

func runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:     "run [flags] [--] program [argument]...",
		Short:   "Run a program until it succeeds, as a retry policy says",
		Long:    runLong,
		Example: runExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no program is given: want dacapo run [flags] -- program [argument]")
			}
			return nil
		},
		RunE:        f.run,
		Annotations: map[string]string{usageStatus: strconv.Itoa(program.OwnFailure)},
	}
	f.define(c)
	return c
}

func (f *runFlags) define(c *cobra.Command) {
	flags := c.Flags()
	flags.SetInterspersed(false) // what follows the program is the program's
	flags.StringVar(&f.policy, "policy", programPolicy, "the whole policy, as `text`")
	flags.StringVar(&f.retries, "retries", "", "at most `N` retries, or unlimited")
	flags.StringVar(&f.backoff, "backoff", "", "the `strategy` of the waits, such as 'exp(1s,2).cap(1m).jitter(full)'")
	flags.DurationVar(&f.maxElapsed, "max-elapsed", 0, "begin no retry after this `time`")
	flags.DurationVar(&f.attemptTimeout, "attempt-timeout", 0, "interrupt an attempt after this `time`")
	flags.DurationVar(&f.timeout, "timeout", 0, "interrupt the whole run after this `time`")
	flags.DurationVar(&f.killAfter, "kill-after", 10*time.Second, "the `time` from the first signal to SIGKILL")
	flags.StringVar(&f.on, "on", "", "retry only these `statuses`, such as 1,75,100-110,TERM")
	flags.StringVar(&f.except, "except", "", "never retry these `statuses`")
	flags.StringVar(&f.onOutput, "on-output", "", "retry only if a line of the output matches this `pattern`")
	flags.StringVar(&f.until, "until", "", "repeat until a line of the output matches this `pattern`")
	flags.BoolVar(&f.hold, "hold", false, "show the output of the last attempt only, at the end")
	flags.BoolVar(&f.raw, "raw", false, "let the program write to stderr itself; no Retry-After is read")
	flags.StringVar(&f.stdinMax, "stdin-limit", "16MiB", "keep so much of stdin for retries: a `size` in bytes, KiB, MiB or GiB")
	flags.StringVar(&f.log, "log", "text", "what dacapo writes to stderr: text, json or none, as `format`")
	for _, name := range []string{"hold", "on-output", "until"} {
		c.MarkFlagsMutuallyExclusive("raw", name)
	}
	_ = c.RegisterFlagCompletionFunc("log", cobra.FixedCompletions([]string{"text", "json", "none"}, cobra.ShellCompDirectiveNoFileComp))
}

// run does what the flags say. What is wrong with them all is an error of usage.
func (f *runFlags) run(c *cobra.Command, args []string) error {
	job := program.Job{
		Args: args, Timeout: f.timeout, KillAfter: f.killAfter, Hold: f.hold, Raw: f.raw,
		Stdin: c.InOrStdin(), Stdout: c.OutOrStdout(), Stderr: c.ErrOrStderr(),
	}
	var err error
	if job.Policy, err = f.readPolicy(c); err != nil {
		return err
	}
	if err := f.readRest(c, &job); err != nil {
		return err
	}
	status, err := job.Run(c.Context())
	if status == 0 && err == nil {
		return nil
	}
	return exit{status, err}
}

// readPolicy reads the text of the policy, and then the settings that replace some of it.
func (f *runFlags) readPolicy(c *cobra.Command) (p retry.Policy, err error) {
	if p, err = retry.Parse(f.policy); err != nil {
		return p, pointed("--policy", f.policy, err)
	}
	given := c.Flags().Changed
	if given("retries") {
		n, err := retries(f.retries)
		if err != nil {
			return p, err
		}
		p = p.MaxRetries(n)
	}
	if given("backoff") {
		s, err := backoff.Parse(f.backoff)
		if err != nil {
			return p, pointed("--backoff", f.backoff, err)
		}
		p = p.Backoff(s)
	}
	if given("max-elapsed") {
		p = p.MaxElapsed(f.maxElapsed)
	}
	if given("attempt-timeout") {
		p = p.AttemptTimeout(f.attemptTimeout)
	}
	return p, p.Err()
}

func retries(text string) (int, error) {
	if text == "unlimited" {
		return retry.Unlimited, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("--retries is %q: want a number of at least 0, or unlimited", text)
	}
	return n, nil
}

func (f *runFlags) readRest(c *cobra.Command, job *program.Job) (err error) {
	given := c.Flags().Changed
	read := func(name string, set func() error) {
		if given(name) && err == nil {
			if e := set(); e != nil {
				err = fmt.Errorf("--%s: %w", name, e)
			}
		}
	}
	read("on", func() (err error) { job.On, err = program.ParseStatuses(f.on); return err })
	read("except", func() (err error) { job.Except, err = program.ParseStatuses(f.except); return err })
	read("on-output", func() (err error) { job.OnOutput, err = regexp.Compile(f.onOutput); return err })
	read("until", func() (err error) { job.Until, err = regexp.Compile(f.until); return err })
	read("timeout", func() error { return positive(f.timeout) })
	read("kill-after", func() error {
		if f.killAfter < 0 {
			return fmt.Errorf("%v: want 0 or more", f.killAfter)
		}
		return nil
	})
	if err == nil {
		if job.StdinLimit, err = size(f.stdinMax); err != nil {
			err = fmt.Errorf("--stdin-limit: %w", err)
		}
	}
	if err == nil {
		err = f.logTo(c.ErrOrStderr(), job)
	}
	return err
}

func positive(d time.Duration) error {
	if d <= 0 {
		return fmt.Errorf("%v: want more than 0, or leave it out for no limit", d)
	}
	return nil
}

// logTo sets who is told of the steps of the run.
func (f *runFlags) logTo(w io.Writer, job *program.Job) error {
	switch f.log {
	case "text":
		job.Text = true
	case "json":
		h := slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})
		job.Policy = job.Policy.Events(retry.Log(slog.New(h).With("program", job.Args[0])))
	case "none":
	default:
		return fmt.Errorf("--log is %q: want text, json or none", f.log)
	}
	return nil
}

// size reads a number of bytes, with or without a unit.
func size(text string) (int64, error) {
	number, unit := text, int64(1)
	for i, suffix := range []string{"KiB", "MiB", "GiB"} {
		if n := len(text) - len(suffix); n > 0 && text[n:] == suffix {
			number, unit = text[:n], 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > 1<<50/unit {
		return 0, fmt.Errorf("%q is no size: want one such as 1048576, 512KiB, 16MiB or 1GiB", text)
	}
	return n * unit, nil
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/plan"
	"github.com/dacapo-go/dacapo/retry"
)

const planLong = `Plan shows what a retry policy does, before it does it: the wait before each retry, all
waits so far, how many calls a run makes, and a warning of each thing that is dangerous, with
what to write instead. Several policies are shown side by side.

The calls are taken to fail at once, so that the waits are all that takes time; a server's
hints are not in it. Under max-elapsed a row is of the runs that have time for its retry.
"Least" is reached, "greatest" is not where there is jitter. The median and the 95th
percentile (p95) of one wait are exact, but for waits that depend on the one before
(decorrelated) and for max-elapsed: these, and those of sums, come from 10,000 runs with a
fixed seed. "Calls for each run" is the load that retries make of the load that is offered,
if each call fails by itself, with that chance; in an outage all fail, 100%.

The exit status is 0; with --strict it is 1 where there is a warning. Bad usage, such as a
policy that cannot be read, is 2.`

const planExample = `  dacapo plan 'retries=8 backoff=exp(100ms,2).cap(5s).jitter(full)'
  dacapo plan 'retries=5 backoff=exp(1s,2)' 'retries=5 backoff=exp(1s,2).cap(10s).jitter(full)' --svg waits.svg
  dacapo plan --json "$RETRY_POLICY" | jq '.[0].calls'
  dacapo plan --strict "$RETRY_POLICY" >/dev/null     # in CI`

// planFlags are the flags of dacapo plan.
type planFlags struct {
	settings     plan.Settings
	failing, svg string
	json, strict bool
	width        int
}

func planCommand() *cobra.Command {
	f := planFlags{settings: plan.Settings{Runs: 10_000}}
	c := &cobra.Command{
		Use:     "plan policy...",
		Short:   "Show what a retry policy does, before it does it",
		Long:    planLong,
		Example: planExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no policy is given: want one such as 'retries=8 backoff=exp(100ms,2).cap(5s).jitter(full)'")
			}
			if len(args) > len(names) {
				return fmt.Errorf("%d policies: want at most %d", len(args), len(names))
			}
			return nil
		},
		RunE: f.run,
	}
	flags := c.Flags()
	flags.StringVar(&f.failing, "failing", "1%,10%,50%,90%,100%", "count calls where such `parts` of them fail")
	flags.IntVar(&f.settings.Rows, "rows", 12, "show at most `N` retries")
	flags.Uint64Var(&f.settings.Seed, "seed", 1, "of the random numbers")
	flags.BoolVar(&f.json, "json", false, "print JSON, with times in milliseconds")
	flags.BoolVar(&f.strict, "strict", false, "fail where there is a warning")
	flags.StringVar(&f.svg, "svg", "", "also draw the waits into this `file`")
	flags.IntVar(&f.width, "width", 0, "of the chart, in `columns` (default the terminal's, or 80)")
	return c
}

func (f *planFlags) run(c *cobra.Command, args []string) error {
	plans, err := f.read(args)
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	if f.json {
		err = writePlansJSON(out, plans)
	} else {
		err = writePlans(out, plans, f.columns(out))
	}
	if err == nil && f.svg != "" {
		err = writeFile(f.svg, func(w io.Writer) error { return drawPlans(w, plans) })
	}
	if err != nil {
		return failure{err}
	}
	for _, p := range plans {
		if f.strict && len(p.Warnings) > 0 {
			return exit{status: 1}
		}
	}
	return nil
}

// read reads the policies and makes their plans.
func (f *planFlags) read(args []string) (all []plan.Plan, err error) {
	if f.settings.Rows < 1 {
		return nil, fmt.Errorf("--rows is %d: want at least 1", f.settings.Rows)
	}
	if f.settings.Failing, err = parts(f.failing); err != nil {
		return nil, err
	}
	var bad []error
	for i, text := range args {
		p, err := retry.Parse(text)
		if err != nil {
			what := "the policy"
			if len(args) > 1 {
				what = "policy " + names[i]
			}
			bad = append(bad, pointed(what, text, err))
			continue
		}
		all = append(all, plan.Of(p, f.settings))
	}
	return all, errors.Join(bad...)
}

// parts reads parts of a whole, in per cent.
func parts(text string) (all []float64, err error) {
	for word := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(word), "%"), 64)
		if err != nil || !(v >= 0 && v <= 100) {
			return nil, fmt.Errorf("--failing: %q is no part: want such as 1%%,50%%,100%%", word)
		}
		all = append(all, v/100)
	}
	return all, nil
}

// columns returns how wide the output may be.
func (f *planFlags) columns(w io.Writer) int {
	if f.width > 0 {
		return f.width
	}
	if file, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}

func writePlansJSON(w io.Writer, plans []plan.Plan) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(plans)
}

package main

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/storm"
)

// stormFlags are the flags of dacapo storm.
type stormFlags struct {
	seed     uint64
	policies []string
	json     bool
	svg      string
}

func stormCommand() *cobra.Command {
	var flags stormFlags
	c := &cobra.Command{
		Use:   "storm [scenario]",
		Short: "Simulate what retries do to a service that is in trouble",
		Long: `Storm simulates clients and a service in virtual time, and shows what retries do to
the service when it is in trouble. The policies, backoff strategies, budgets and hedges are
the real ones; only the clock and the server are simulated. The same seed gives the same
output, to the byte.

Without a scenario it lists them:

` + scenarioList() + `
A scenario plays policies of its own, and says what is expected of them: "!" marks a value
that is not so. With --policy it plays yours: the text is that of retry.Parse, and may have
one more word, the budget of the retries:

  budget=none        no limit, as if left out
  budget=default     100 tokens, a retry takes one, a success brings 0.1
  budget=20%         the same, but a success brings 0.2
  budget=calls-20%   the same, but every run brings 0.2, also one that fails (calls-40%, too)
  budget=grpc, budget=aws, budget=finagle   as these have it

An attempt-timeout is how long the clients of outage wait for an answer, in place of 0.5 s.`,
		Example: `  dacapo storm outage
  dacapo storm outage --policy 'retries=2 budget=20%' --policy 'retries=5 backoff=exp(1s,2)'
  dacapo storm herd --policy 'retries=unlimited backoff=constant(5s)' --svg herd.svg
  dacapo storm contention --seed 2 --json | jq '.table.rows[].name'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				fmt.Fprint(c.OutOrStdout(), scenarioList())
				return nil
			}
			return flags.run(c, args[0])
		},
	}
	c.Flags().Uint64Var(&flags.seed, "seed", 1, "of the random numbers")
	c.Flags().StringArrayVar(&flags.policies, "policy", nil, "a policy to play as `text`; give it several times for several side by side")
	c.Flags().BoolVar(&flags.json, "json", false, "print JSON")
	c.Flags().StringVar(&flags.svg, "svg", "", "also draw what happens over time into this `file`")
	return c
}

func scenarioList() string {
	var b strings.Builder
	for _, s := range storm.Scenarios() {
		fmt.Fprintf(&b, "  %-12s %s\n", s.Name, s.Short)
	}
	return b.String()
}

func (f *stormFlags) run(c *cobra.Command, name string) error {
	scenario, variants, err := f.read(name)
	if err != nil {
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // what lives is small, what comes and goes is not
	doing, done := activity(c.ErrOrStderr(), "simulating "+name+": ")
	report := scenario.Run(f.seed, variants, doing)
	done()
	write := writeStorm
	if f.json {
		write = writeStormJSON
	}
	if err := write(c.OutOrStdout(), report); err != nil {
		return failure{err}
	}
	if f.svg == "" {
		return nil
	}
	if err := writeFile(f.svg, func(w io.Writer) error { return drawStorm(w, report) }); err != nil {
		return failure{err}
	}
	return nil
}

// read returns the scenario, and the variants that are asked for.
func (f *stormFlags) read(name string) (storm.Scenario, []storm.Variant, error) {
	s, ok := storm.Find(name)
	switch {
	case !ok:
		return s, nil, fmt.Errorf("%q is no scenario: want one of\n%s", name, strings.TrimSuffix(scenarioList(), "\n"))
	case len(f.policies) > 0 && !s.TakesPolicies:
		return s, nil, fmt.Errorf("--policy: %s is about hedges and has no retries: leave it out", name)
	case f.svg != "" && !s.OverTime:
		return s, nil, fmt.Errorf("--svg: %s has no picture over time: want outage or herd", name)
	}
	var variants []storm.Variant
	for _, text := range f.policies {
		v, err := storm.Parse(text)
		if err != nil {
			return s, nil, pointed("--policy", text, err)
		}
		variants = append(variants, v)
	}
	return s, variants, nil
}

// activity shows on a terminal what is being done; elsewhere nothing.
func activity(w io.Writer, what string) (doing func(string), done func()) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func(string) {}, func() {}
	}
	const clear = "\r\x1b[K"
	return func(now string) { fmt.Fprint(f, clear, what, now) }, func() { fmt.Fprint(f, clear) }
}

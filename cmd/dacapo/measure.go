package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func measureCommand(table []scenario) *cobra.Command {
	var markdown, asJSON bool
	var svg string
	c := &cobra.Command{
		Use:   "measure",
		Short: "Run retry policies for real and hold them against what is promised",
		Long: `Measure runs a table of retry policies on the wall clock, all side by side, in about
three seconds. It prints what each run was to do and what it did, and exits with 0
only if every row is right.

Judged are the number of calls, the reason, the events and what the caller got; each
wait that was announced; and that no wait was shorter than announced. A wait that is
longer, on a busy machine, is shown and not judged.`,
		Example: `  dacapo measure
  dacapo measure --markdown > measured.md
  dacapo measure --json | jq '.[] | select(.right | not)'
  dacapo measure --svg timelines.svg`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			write := writeTable
			switch {
			case markdown:
				write = writeMarkdown
			case asJSON:
				write = writeJSON
			}
			records := measure(c, table)
			return report(c.OutOrStdout(), records, write, svg)
		},
	}
	c.Flags().BoolVar(&markdown, "markdown", false, "print a Markdown table")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, with times in milliseconds")
	c.Flags().StringVar(&svg, "svg", "", "also draw the timelines into this `file`")
	c.MarkFlagsMutuallyExclusive("markdown", "json")
	return c
}

// measure plays the scenarios, and shows the progress on a terminal.
func measure(c *cobra.Command, all []scenario) []record {
	var ended atomic.Int64
	stop := progress(c.ErrOrStderr(), &ended, len(all))
	defer stop()
	return playAll(c.Context(), all, func() { ended.Add(1) })
}

// report writes what was measured; it fails if any of it is wrong.
func report(w io.Writer, records []record, write func(io.Writer, []record) error, svg string) error {
	if err := write(w, records); err != nil {
		return failure{err}
	}
	if svg != "" {
		if err := writeFile(svg, func(w io.Writer) error { return writeSVG(w, records) }); err != nil {
			return failure{err}
		}
	}
	if n := wrong(records); n > 0 {
		return failure{fmt.Errorf("%d of %d rows are wrong", n, len(records))}
	}
	return nil
}

// writeFile makes a file of what write writes.
func writeFile(name string, write func(io.Writer) error) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	return write(f)
}

// progress shows on a terminal how many of all runs have ended, until it is
// stopped. Elsewhere it shows nothing.
func progress(w io.Writer, ended *atomic.Int64, all int) (stop func()) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func() {}
	}
	began := time.Now()
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(100 * ms)
		defer tick.Stop()
		for {
			fmt.Fprintf(f, "\rmeasuring on the wall clock: %d of %d runs have ended, %.1fs ", ended.Load(), all, time.Since(began).Seconds())
			select {
			case <-tick.C:
			case <-done:
				fmt.Fprint(f, "\r\x1b[K")
				return
			}
		}
	}()
	return func() { close(done); <-gone }
}

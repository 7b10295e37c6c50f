// Command dacapo shows what the dacapo toolkit does.
//
//	dacapo measure   runs retry policies for real and holds them against what is promised
//	dacapo storm     simulates what retries do to a service that is in trouble
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

func main() {
	os.Exit(run(os.Args[1:], scenarios(), os.Stdout, os.Stderr))
}

// run is the command, measuring the given table. It returns the exit status: 1
// where something measured is wrong or cannot be written, 2 for bad usage.
func run(args []string, table []scenario, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:           "dacapo",
		Short:         "Retry, futures and streams: see what they do",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(measureCommand(table), stormCommand())
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	var failed failure
	switch {
	case err == nil:
		return 0
	case errors.As(err, &failed):
		fmt.Fprintln(stderr, "dacapo:", err)
		return 1
	default:
		fmt.Fprintf(stderr, "dacapo: %v\nTry 'dacapo --help'.\n", err)
		return 2
	}
}

// failure is an error of the work, not of the usage.
type failure struct{ error }

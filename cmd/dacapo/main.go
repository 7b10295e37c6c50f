// Command dacapo shows what the dacapo toolkit does.
//
//	dacapo run       runs a program until it succeeds, as a retry policy says
//	dacapo plan      shows what a retry policy does, before it does it
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
// where something measured is wrong or cannot be written, 2 for bad usage; dacapo run
// has its own.
func run(args []string, table []scenario, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:           "dacapo",
		Short:         "Retry programs, and see what retry policies do",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(runCommand(), planCommand(), measureCommand(table), stormCommand(), manCommand())
	root.Version = version()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	c, err := root.ExecuteC()
	var failed failure
	var ended exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended):
		if ended.error != nil {
			fmt.Fprintln(stderr, "dacapo:", ended.error)
		}
		return ended.status
	case errors.As(err, &failed):
		fmt.Fprintln(stderr, "dacapo:", err)
		return 1
	default:
		fmt.Fprintf(stderr, "dacapo: %v\nTry '%s --help'.\n", err, c.CommandPath())
		return statusOfUsage(c)
	}
}

// failure is an error of the work, not of the usage.
type failure struct{ error }

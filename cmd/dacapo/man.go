package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man [command]",
		Short:   "Print a manual page, made of the same text as --help",
		Example: "  dacapo man run | man -l -\n  dacapo man plan > dacapo-plan.1",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			page, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return fmt.Errorf("%s is no command", strings.Join(args, " "))
			}
			header := &doc.GenManHeader{Source: "dacapo", Manual: "dacapo"}
			if _, at, _ := built(); !at.IsZero() {
				header.Date = &at
			}
			page.DisableAutoGenTag = true
			return doc.GenMan(page, header, c.OutOrStdout())
		},
	}
}

// version is what the Go toolchain knows of this build.
func version() string {
	module, at, revision := built()
	return fmt.Sprintf("%s%s (%s, %s/%s)", module, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH) + dated(at)
}

func dated(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format(", 2006-01-02")
}

// built returns the version of the command, and the time and name of its revision.
func built() (module string, at time.Time, revision string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)", at, ""
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.time":
			at, _ = time.Parse(time.RFC3339, s.Value)
		case s.Key == "vcs.revision":
			revision = " " + s.Value[:min(len(s.Value), 12)] + revision
		case s.Key == "vcs.modified" && s.Value == "true":
			revision += "+changes"
		}
	}
	return info.Main.Version, at, revision
}

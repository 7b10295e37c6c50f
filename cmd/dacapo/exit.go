package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
)

// exit ends the command with a status, and says why if there is anything to say.
type exit struct {
	status int
	error
}

// usageStatus annotates a command whose status for bad usage is not 2.
const usageStatus = "dacapo: the exit status for bad usage"

func statusOfUsage(c *cobra.Command) int {
	if status, err := strconv.Atoi(c.Annotations[usageStatus]); err == nil {
		return status
	}
	return 2
}

// pointed shows where in a text its faults are, under the text itself.
func pointed(what, text string, err error) error {
	shown := strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) {
			return ' '
		}
		return c
	}, text)
	var b strings.Builder
	for i, fault := range faults(err) {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s: column %d: %s\n    %s\n    %s^", what, fault.Column, fault.Problem, shown, strings.Repeat(" ", fault.Column-1))
	}
	if b.Len() == 0 {
		return fmt.Errorf("%s: %w", what, err)
	}
	return errors.New(b.String())
}

// faults are what is wrong with a text, as either parser says it.
func faults(err error) (all []retry.ParseError) {
	each := []error{err}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		each = many.Unwrap()
	}
	for _, err := range each {
		if e, ok := errors.AsType[*retry.ParseError](err); ok {
			all = append(all, *e)
		} else if e, ok := errors.AsType[*backoff.ParseError](err); ok {
			all = append(all, retry.ParseError{Column: e.Column, Problem: e.Problem})
		}
	}
	return all
}

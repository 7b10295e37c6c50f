package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dacapo-go/dacapo/retry"
)

// retried reports whether the policy would make the call again.
func retried(p retry.Policy, err error) bool { return p.Next(retry.Failure{Err: err}).Retry }

func TestMatchersWalkTheWholeTree(t *testing.T) {
	path := &fs.PathError{Op: "open", Path: "x", Err: os.ErrNotExist}
	for name, err := range map[string]error{
		"itself": path, "wrapped": fmt.Errorf("a: %w", path), "joined": errors.Join(errOther, path),
		"joined below": fmt.Errorf("a: %w, b: %w", errOther, fmt.Errorf("c: %w", errors.Join(path))),
		"marked":       retry.After(1, path),
	} {
		for matcher, m := range map[string]retry.Matcher{
			"Is": retry.Is(os.ErrNotExist), "Is one of": retry.Is(errBoom, os.ErrNotExist), "As": retry.As[*fs.PathError](),
			"Match": retry.Match(func(err error) bool { return err == error(path) }),
		} {
			assert.True(t, retried(retry.New().On(m), err), "%s %s", matcher, name)
			assert.False(t, retried(retry.New().Except(m), err), "%s %s", matcher, name)
			assert.False(t, retried(retry.New().On(m), errOther), matcher)
			assert.True(t, retried(retry.New().Except(m), errOther), matcher)
		}
	}
}

func TestOnAddsAndExceptWins(t *testing.T) {
	both := retry.New().On(retry.Is(errBoom)).On(retry.Is(errOther))
	assert.True(t, retried(both, errBoom))
	assert.True(t, retried(both, errOther))
	assert.False(t, retried(both, errors.New("a third")))
	assert.False(t, retried(both.Except(retry.Is(errBoom)).Except(retry.Is(errOther)), errBoom))
	assert.False(t, retried(both.Except(retry.Is(errOther), retry.Is(errBoom)), errors.Join(errBoom, errOther)))
}

func TestTheFirstNoEndsTheQuestions(t *testing.T) {
	var asked []string
	ask := func(name string, answer bool) func(error) bool {
		return func(error) bool { asked = append(asked, name); return answer }
	}
	match := func(name string, answer bool) retry.Matcher { return retry.Match(ask(name, answer)) }
	for _, c := range []struct {
		p    retry.Policy
		want []string
	}{
		{retry.New().If(ask("if", true)).On(match("on", true)).Except(match("except", false)), []string{"except", "on", "if"}},
		{retry.New().If(ask("if", true)).On(match("on", true)).Except(match("except", true)), []string{"except"}},
		{retry.New().If(ask("if", true)).On(match("on", false)).Except(match("except", false)), []string{"except", "on"}},
		{retry.New().If(ask("if", false)).If(ask("second", true)), []string{"if"}},
		{retry.New().If(ask("if", true)).If(ask("second", false)).If(ask("third", true)), []string{"if", "second"}},
	} {
		asked = nil
		c.p.Next(retry.Failure{Err: errBoom})
		assert.Equal(t, c.want, asked)
	}
	asked = nil
	retry.New().If(ask("if", true)).Next(retry.Failure{Err: retry.Permanent(errBoom)})
	retry.New().If(ask("if", true)).Next(retry.Failure{Err: errBoom, Ended: true})
	retry.New().If(ask("if", true)).Next(retry.Failure{})
	assert.Empty(t, asked, "decided before")
}

func TestARefinementLeavesThePolicyItRefines(t *testing.T) {
	no := func(error) bool { return false }
	base := retry.New().On(retry.Is(errBoom)).If(func(error) bool { return true })
	_, _, _ = base.On(retry.Is(errOther)), base.If(no), base.Except(retry.Is(errBoom))
	_, _ = base.MaxRetries(0), base.MaxElapsed(1)
	assert.True(t, retried(base, errBoom))
	assert.False(t, retried(base, errOther))
}

func TestTwoPoliciesGrownFromOneDoNotShare(t *testing.T) {
	var told string
	tell := func(name string) func(context.Context, retry.Event) {
		return func(context.Context, retry.Event) { told += name }
	}
	for length := range 6 {
		base := noWait.MaxRetries(0)
		for range length {
			base = base.If(func(error) bool { return true }).Events(func(context.Context, retry.Event) {})
		}
		yes, no := func(error) bool { return true }, func(error) bool { return false }
		a, b := base.If(yes).Events(tell("a")), base.If(no).Events(tell("b"))
		assert.Equal(t, retry.Exhausted, a.Next(retry.Failure{Err: errBoom}).Reason)
		assert.Equal(t, retry.NotRetryable, b.Next(retry.Failure{Err: errBoom}).Reason)
		told = ""
		_ = retry.Run(t.Context(), a, func(context.Context) error { return nil })
		assert.Equal(t, "aa", told)
	}
}

func TestTheArgumentsAreCopied(t *testing.T) {
	targets := []error{errBoom}
	matchers := []retry.Matcher{retry.Is(targets...)}
	p := retry.New().On(matchers...)
	targets[0], matchers[0] = errOther, retry.Is(errOther)
	assert.True(t, retried(p, errBoom))
}

package storm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/storm/sim"
	"github.com/dacapo-go/dacapo/retry"
	"github.com/dacapo-go/dacapo/retry/budget"
)

// A Variant is one of the policies that a scenario plays, with the budget of its retries.
// Make one with Parse.
type Variant struct {
	Name    string // as the tables have it
	Text    string
	policy  retry.Policy
	timeout time.Duration // of a call; 0 for the scenario's
	rules   *budget.Config
	key     bool // its chart is one of the few that a terminal shows
	law     func(prev time.Duration, draw uint64) time.Duration
}

// budgets are the names that a text can give; nil is none.
var budgets = []struct {
	name  string
	rules *budget.Config
}{
	{"none", nil},
	{"default", new(budget.Default())},
	{"grpc", new(budget.GRPC())},
	{"aws", new(budget.AWS())},
	{"finagle", new(budget.Finagle())},
	{"20%", new(budget.Default().Deposit(0.2))},
	{"calls-20%", new(onEveryCall(0.2))},
	{"calls-40%", new(onEveryCall(0.4))},
}

// onEveryCall returns a budget to which every run brings a part of a token, whether it
// succeeds or not: Finagle's, but that its floor is next to nothing.
func onEveryCall(part float64) budget.Config { return budget.Finagle().Deposit(part).Floor(0.001) }

// Parse reads a policy, as retry.Parse does, in which one more word may stand: budget=NAME.
// Errors are *retry.ParseError, as from there.
func Parse(text string) (Variant, error) {
	v := Variant{Name: text, Text: text}
	from, to := find(text, "budget=")
	var err error
	if from < to {
		if v.rules, err = named(text, from, to); err != nil {
			return Variant{}, err
		}
		text = text[:from] + strings.Repeat(" ", len([]rune(text[from:to]))) + text[to:]
	}
	if v.policy, err = retry.Parse(text); err != nil {
		return Variant{}, err
	}
	v.timeout = attemptTimeout(v.policy)
	return v, nil
}

// find returns where the word stands that begins with prefix.
func find(text, prefix string) (from, to int) {
	at := strings.Index(" "+text, " "+prefix)
	if at < 0 {
		return 0, 0
	}
	length := strings.IndexByte(text[at:], ' ')
	if length < 0 {
		length = len(text) - at
	}
	return at, at + length
}

// named returns the rules of the budget that the word names.
func named(text string, from, to int) (*budget.Config, error) {
	name := strings.TrimPrefix(text[from:to], "budget=")
	column := len([]rune(text[:from])) + 1
	if again, end := find(text[to:], "budget="); again < end {
		column = len([]rune(text[:to+again])) + 1
		return nil, &retry.ParseError{Column: column, Problem: "budget is given a second time: want it once"}
	}
	var names []string
	for _, b := range budgets {
		if b.name == name {
			return b.rules, nil
		}
		names = append(names, b.name)
	}
	last := len(names) - 1
	return nil, &retry.ParseError{
		Column:  column + len("budget="),
		Problem: fmt.Sprintf("budget is %q: want %s or %s", name, strings.Join(names[:last], ", "), names[last]),
	}
}

// attemptTimeout returns the AttemptTimeout of p, which only its text tells; 0 for none.
func attemptTimeout(p retry.Policy) time.Duration {
	for word := range strings.FieldsSeq(p.String()) {
		if value, ok := strings.CutPrefix(word, "attempt-timeout="); ok {
			d, _ := time.ParseDuration(value)
			return d
		}
	}
	return 0
}

// client returns a client of this variant, with a budget of its own.
func (v Variant) client(s *sim.Sim) *sim.Client {
	var b *budget.Budget
	if v.rules != nil {
		b = budget.New(*v.rules)
	}
	c := sim.NewClient(s, v.policy, b)
	c.Law = v.law
	return c
}

// callTimeout returns how long a call may take, if the text does not say it.
func (v Variant) callTimeout(scenarios time.Duration) time.Duration {
	if v.timeout > 0 {
		return v.timeout
	}
	return scenarios
}

// variants makes a scenario's own variants, from pairs of a name and a text.
func variants(pairs ...string) []Variant {
	var all []Variant
	for pair := range slices.Chunk(pairs, 2) {
		v, err := Parse(pair[1])
		if err != nil {
			panic(err) // ours
		}
		v.Name = pair[0]
		all = append(all, v)
	}
	return all
}

// highlight marks the variants whose charts say the most.
func highlight(vs []Variant, names ...string) []Variant {
	for i := range vs {
		vs[i].key = slices.Contains(names, vs[i].Name)
	}
	return vs
}

var errFailed = errors.New("storm: the call failed")

// Package storm has the scenarios of the command dacapo storm: what retries do to a service,
// in virtual time.
package storm

import (
	"fmt"
	"slices"
)

// A Scenario is something that goes wrong, and how policies fare in it.
type Scenario struct {
	Name  string
	Short string // in a line

	TakesPolicies bool // others than its own
	OverTime      bool // its report has charts

	own   []Variant
	plays func(*play)
}

// Scenarios returns all of them.
func Scenarios() []Scenario {
	return []Scenario{contention(), overload(), outage(), herd(), layers(), tail()}
}

// Find returns a scenario by its name.
func Find(name string) (Scenario, bool) {
	all := Scenarios()
	i := slices.IndexFunc(all, func(s Scenario) bool { return s.Name == name })
	if i < 0 {
		return Scenario{}, false
	}
	return all[i], true
}

// Run plays the scenario: the given variants, or its own where there are none. doing is told
// what is done next.
func (s Scenario) Run(seed uint64, vs []Variant, doing func(string)) *Report {
	p := &play{Report: Report{Scenario: s.Name, Seed: seed}, seed: seed, variants: vs, own: len(vs) == 0, doing: doing}
	if p.own {
		p.variants = s.own
	}
	s.plays(p)
	return &p.Report
}

// play is one run of a scenario.
type play struct {
	Report
	seed     uint64
	variants []Variant
	own      bool // the scenario's
	doing    func(string)
}

func (p *play) say(format string, args ...any) { p.doing(fmt.Sprintf(format, args...)) }

func (p *play) row(name string, figures ...Figure) {
	p.Table.Rows = append(p.Table.Rows, Row{name, figures})
}

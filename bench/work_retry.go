package main

import (
	"context"
	"sync/atomic"
	"time"
)

func succeed(context.Context) (int, error) { return 1, nil }

// script makes an operation for one goroutine, in the words of a library.
type script func(library) op

func succeeding(library) op { return succeed }

func failing(l library) op {
	err := mark(l.busy, errBusy)
	return func(context.Context) (int, error) { return 0, err }
}

func refusing(l library) op {
	err := mark(l.lasting, errGone)
	return func(context.Context) (int, error) { return 0, err }
}

// thirdTime fails twice, then succeeds, and starts again.
func thirdTime(l library) op {
	n, err := 0, mark(l.busy, errBusy)
	return func(context.Context) (int, error) {
		if n++; n%3 != 0 {
			return 0, err
		}
		return 1, nil
	}
}

// all are the work by hand, and all libraries.
func all() []library { return append([]library{floor()}, libraries()...) }

// under are libraries that run the script under the plan.
func under(p plan, s script, ls ...library) []contestant {
	var made []contestant
	for _, l := range ls {
		made = append(made, contestant{by: l.name, how: l.how, make: func(calls *atomic.Int64) func() run {
			bind := l.build(cancellable(), p)
			return func() run { return bind(counted(calls, s(l))) }
		}})
	}
	return made
}

// atFirst are all libraries where nothing fails, and what would go wrong where something did.
func atFirst() []contestant {
	once := usual
	once.shared = true
	spoilt := under(once, succeeding, sethvargo())[0]
	spoilt.by, spoilt.how, spoilt.pattern = "sethvargo, one Backoff", "the same with one Backoff for all runs, which the first failures would use up for good", true
	return append(under(usual, succeeding, all()...), spoilt)
}

func written() []contestant {
	var made []contestant
	for _, l := range all() {
		made = append(made, contestant{by: l.name, how: "all of it written at the call", make: func(calls *atomic.Int64) func() run {
			ctx, op := cancellable(), counted(calls, succeed)
			return func() run { return func() (int, error) { return l.written(ctx, op) } }
		}})
	}
	return made
}

// drawn are those that give a delay on its own: eight in a row, as after eight failures.
func drawn() []contestant {
	var made []contestant
	for _, l := range append(all(), awsDelay()) {
		if l.eight != nil {
			made = append(made, contestant{by: l.name, how: l.drawn, make: once(func() (int, error) { return int(l.eight()), nil })})
		}
	}
	return made
}

const (
	noLook  = "eapache/go-resiliency, where it is the best peer, calls without a look at the context; by hand, with that look, takes nearly as long."
	oneCore = "About every failure one function decides, which knows all settings, and the run is kept so that any of them can follow; by hand it is a comparison."
)

func retries() []workload {
	const threeRetries = 3
	none := plan{retries: threeRetries}
	gone := plan{retries: threeRetries, gone: true}
	return []workload{
		{
			id: "R1", what: "success at the first call", contestants: atFirst(), calls: 1, value: 1,
			limit: limit{floor: 1.75, peer: 0.85}, why: noLook,
		},
		{
			id: "R1c", what: "… with the policy written at the call", contestants: written(), calls: 1, value: 1,
			limit: limit{floor: 15, peer: 2, of: map[string]float64{"cenkalti/backoff": 0.4, "avast/retry-go": 0.4, "failsafe-go": 0.4}},
		},
		{
			id: "R2", what: "two failures without a wait, then success", contestants: under(none, thirdTime, all()...), calls: 3, value: 1,
			limit: limit{floor: 3.5, peer: 0.3}, why: oneCore,
		},
		{
			id: "R3", what: "a permanent error (by hand: looking for a marker too)", contestants: under(gone, refusing, all()...), calls: 1, err: errGone,
			limit: limit{floor: 5, peer: 1.3},
			why: "eapache/go-resiliency compares with a list of errors and looks for no marker. Here half of the time is Do itself with two looks at " +
				"the context, and half the one core that decides about every failure; the walk for the marker is a twentieth.",
		},
		{
			id: "R4", what: "exhausted at 4 calls", contestants: under(none, failing, all()...), calls: 4, err: errBusy,
			limit: limit{floor: 5, peer: 0.3}, why: oneCore,
		},
		{
			id: "R5", what: "eight jittered delays, each with its draw", contestants: drawn(),
			limit: limit{floor: 2.2, peer: 1.7},
			why:   "cenkalti/backoff remembers its last wait and multiplies it, in float64; a strategy without a state computes each from its number, exactly.",
		},
		{
			id: "R6", what: "R1 on all cores, one policy", contestants: atFirst(), calls: 1, value: 1, parallel: true,
			limit: limit{floor: 1.9, peer: 0.9}, why: noLook,
		},
		{
			id: "R6x", what: "R4 on all cores, one policy", contestants: under(none, failing, all()...), calls: 4, err: errBusy, parallel: true,
			limit: limit{floor: 5, peer: 0.05}, why: oneCore,
		},
	}
}

func waits() []workload {
	return []workload{{
		id: "R7", what: "two failures, each with a real wait of 1ms, then success: a tie",
		contestants: under(plan{retries: 3, first: time.Millisecond}, thirdTime, all()...), calls: 3, value: 1,
		limit: limit{floor: 1.02, peer: 1.01}, allocs: 3, most: true,
	}}
}

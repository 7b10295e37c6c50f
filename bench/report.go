package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// report is everything that was measured.
type report struct {
	settings
	rows      []row
	behaviour string
	took      time.Duration
}

// peers are the modules of the contestants, and notImportable those of the plan that could not be had.
var (
	peers = []string{
		"github.com/cenkalti/backoff/v7", "github.com/avast/retry-go/v5", "github.com/failsafe-go/failsafe-go", "github.com/sethvargo/go-retry",
		"github.com/eapache/go-resiliency", "github.com/googleapis/gax-go/v2", "k8s.io/apimachinery", "github.com/aws/aws-sdk-go-v2",
		"github.com/samber/mo", "golang.org/x/sync", "github.com/sourcegraph/conc", "github.com/samber/ro",
	}
	notImportable = []string{"github.com/jizhuozhi/go-future", "github.com/reugn/async", "github.com/destel/rill", "github.com/reactivex/rxgo/v2"}
)

// summary is a row in a line, which the README repeats word for word.
func (r row) summary() string {
	hand, peer, allocs := number(r.ratio(ours, byTheHand)), none, none
	if by := r.contestants[byTheHand].by; by != "by hand" {
		hand += " (" + by + ")"
	}
	if r.unit == "goroutines" {
		hand = none
	}
	if best := r.best(); best >= 0 && r.unit != "goroutines" {
		peer = number(r.ratio(ours, best)) + " (" + r.contestants[best].by + ")"
	}
	if !strings.HasPrefix(r.id, "R8") {
		allocs = fmt.Sprintf("%.0f", r.allocated(ours))
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s |", r.id, r.what, r.show(median(r.values(ours))), hand, peer, allocs)
}

const summaryHead = "| | work | dacapo | × by hand | × best peer | allocations |\n|---|---|---|---|---|---|\n"

func (r report) markdown() string {
	var out strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	say("# Results\n")
	say("Written by `go run ./bench`; not by hand. %s, Go %s on %s/%s, %d cores (%s); %d rounds (R8: %d), %s.\n",
		time.Now().UTC().Format("2 January 2006"), strings.TrimPrefix(runtime.Version(), "go"), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processor(),
		r.rounds, r.crowdRounds, r.took.Round(time.Second))
	say("%s\n", method)
	say("![× by hand, of all](RESULTS.svg)\n")
	say("%s", summaryHead+strings.Join(each(r.rows, row.summary), "\n")+"\n")
	r.promises(say)
	say("## All that was measured\n")
	for _, w := range r.rows {
		w.detail(say)
	}
	say("## Behaviour\n\nThe same inputs for all, in virtual time (testing/synctest), so each duration is exact. %s: the library has no such thing. "+
		"Bold: what a caller would not expect. Each is set up as for R1; where the context ended, avast/retry-go has WrapContextErrorWithLastError, "+
		"and eapache/go-resiliency WithSurfaceWorkErrors, to tell of the last error too.\n\n%s", none, r.behaviour)
	say("## Versions\n\n%s", versions())
	return out.String()
}

const method = `The contestants of a workload run one after the other in every round, each time in another order, and a round goes through all
workloads. "×" is the median of the rounds' ratios, so that what disturbs a round disturbs both sides; only ratios mean anything on
another machine. "By hand" is the least code that does this one thing. The best peer is the one with the least median. Operations are
the same for all, called through a variable; what a library lets one make once is made once.

R8 is measured in a process of its own for each contestant and round, which has done the same with a thousandth of them before: the heap and the stacks of goroutines
(HeapAlloc + StackInuse) after two forced collections, before and while all wait; the time until all wait, and until all have ended.`

// promises are the limits that the project has set itself.
func (r report) promises(say func(string, ...any)) {
	var all, missed []string
	for _, w := range r.rows {
		for _, v := range w.verdicts() {
			line := fmt.Sprintf("| %s | %s | %s | %s | %s |", w.id, v.what, v.promised, v.measured, map[bool]string{true: "holds", false: "**missed**"}[v.holds])
			all = append(all, line)
			if !v.holds {
				missed = append(missed, strings.TrimSpace(fmt.Sprintf("- **%s**, %s: %s, promised %s. %s", w.id, v.what, v.measured, v.promised, w.why)))
			}
		}
	}
	held := fmt.Sprintf("%d of %d hold.", len(all)-len(missed), len(all))
	say("## Limits\n")
	if len(missed) == 0 {
		say("%s", held)
	} else {
		say("%s Missed:\n\n%s", held, strings.Join(missed, "\n"))
	}
	say("\n| | what | promised | measured | |\n|---|---|---|---|---|\n%s\n", strings.Join(all, "\n"))
}

func (r row) detail(say func(string, ...any)) {
	say("### %s: %s\n", r.id, r.what)
	say("| | median | min – max | B | allocations | × by hand | × best peer | |\n|---|---|---|---|---|---|---|---|")
	best := r.best()
	for i, c := range r.contestants {
		vs := r.values(i)
		bytes, allocs, peer := none, none, none
		if !strings.HasPrefix(r.id, "R8") {
			bytes, allocs = fmt.Sprintf("%.0f", r.bytes(i)), fmt.Sprintf("%.0f", r.allocated(i))
		}
		hand := number(r.ratio(i, byTheHand))
		if best >= 0 {
			peer = number(r.ratio(i, best))
		}
		if r.unit == "goroutines" {
			hand, peer = none, none
		}
		say("| %s | %s | %s – %s | %s | %s | %s | %s | %s |", c.by, r.show(median(vs)), r.show(slices.Min(vs)), r.show(slices.Max(vs)), bytes, allocs, hand, peer, c.how)
	}
	say("")
}

// versions are those of the peers in this program.
func versions() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown\n"
	}
	var out strings.Builder
	for _, m := range info.Deps {
		if slices.Contains(peers, m.Path) {
			fmt.Fprintf(&out, "- %s %s\n", m.Path, m.Version)
		}
	}
	fmt.Fprintf(&out, "\nPlanned, and not measured, as the Go module proxy refused to serve them: %s.\n", strings.Join(notImportable, ", "))
	return out.String()
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

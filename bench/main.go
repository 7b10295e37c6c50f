// Command bench holds the toolkit against its peers and against the same work written by
// hand, side by side in one run:
//
//	go run ./bench                  everything; writes bench/RESULTS.md, bench/RESULTS.svg, the README's cost lines
//	go run ./bench -quick           a look, in about a minute; writes nothing
//	go run ./bench -only 'R1|F'     some workloads; writes nothing
//	go test -bench . ./bench        the same workloads, for benchstat -col /by
//
// It is a module of its own, so that no peer gets into the module of the toolkit.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"testing"
	"time"
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == childFlag {
		exit(child(os.Args[2:], os.Stdout))
	}
	exit(command(os.Args[1:], os.Stdout, os.Stderr))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func command(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	quick := flags.Bool("quick", false, "a look, in about a minute: few and short rounds; writes nothing")
	only := flags.String("only", "", "measure the workloads whose name matches this `regexp`, R1 say; writes nothing")
	rounds := flags.Int("rounds", 8, "how many rounds")
	each := flags.Duration("time", 100*time.Millisecond, "how long to measure each contestant in a round")
	_ = flags.Parse(args)
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("bench: -only: %w", err)
	}
	s := settings{rounds: *rounds, crowdRounds: *rounds, crowds: []int{100_000, 1_000_000}, progress: stderr}
	if *quick {
		s.rounds, s.crowdRounds, s.crowds, *each = 3, 1, s.crowds[:1], 10*time.Millisecond
	}
	testing.Init()
	if err := flag.Set("test.benchtime", each.String()); err != nil {
		return err
	}
	r, err := measureAll(s, wanted)
	if err != nil {
		return err
	}
	r.print(stdout)
	if *quick || *only != "" {
		fmt.Fprintln(stdout, "Nothing was written: that is for a whole run.")
		return nil
	}
	return r.write(stdout)
}

func measureAll(s settings, wanted *regexp.Regexp) (report, error) {
	began := time.Now()
	all := slices.DeleteFunc(workloads(), func(w workload) bool { return !wanted.MatchString(w.id) })
	r := report{settings: s, rows: measure(all, s)}
	if wanted.MatchString("R8") {
		crowds, err := measureCrowds(s)
		if err != nil {
			return r, err
		}
		at := 1 + slices.IndexFunc(r.rows, func(r row) bool { return r.id == "R7" })
		r.rows = slices.Insert(r.rows, at, crowds...)
	}
	r.took = time.Since(began)
	if wanted.String() != "" {
		return r, nil
	}
	var err error
	r.behaviour, err = seen()
	return r, err
}

// here is the folder of this file.
func here() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(file)
}

// seen is the table of behaviour. Virtual time is only for tests, so a test makes it.
func seen() (string, error) {
	file := filepath.Join(os.TempDir(), fmt.Sprintf("dacapo-behaviour-%d.md", os.Getpid()))
	defer func() { _ = os.Remove(file) }()
	cmd := exec.Command("go", "test", "-count=1", "-run", "^"+behaviourTest+"$", ".", "-table", file)
	cmd.Dir = here()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("bench: the table of behaviour: %w\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	return string(text), err
}

const behaviourTest = "TestTheTableOfBehaviourIsAsItWas"

func (r report) write(stdout io.Writer) error {
	var svg bytes.Buffer
	if err := chart(&svg, r.rows); err != nil {
		return err
	}
	readme := filepath.Join(here(), "..", "README.md")
	text, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	for file, text := range map[string][]byte{
		filepath.Join(here(), "RESULTS.md"):  []byte(r.markdown()),
		filepath.Join(here(), "RESULTS.svg"): svg.Bytes(),
		readme:                               []byte(refreshed(string(text), r.rows)),
	} {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return err
		}
	}
	fmt.Fprintln(stdout, "Written: bench/RESULTS.md, bench/RESULTS.svg, and the lines of the README's cost section.")
	return nil
}

// Command mutate puts small faults into the packages of the core, one at a time, and says which
// of them no test sees. From the top of the checkout:
//
//	go run ./mutate -n 200 ./backoff ./retry ./retry/budget ./future ./stream ./internal/eager ./internal/loop
//
// The checkout itself is not changed (the faults are given to the compiler as overlays). A fault
// is caught where a test fails or panics, or has not ended by -timeout; faults that do not compile
// are left out. The same seed takes the same faults.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	n := flag.Int("n", 100, "how many faults")
	seed := flag.Uint64("seed", 1, "which ones")
	timeout := flag.Duration("timeout", 2*time.Minute, "of the tests with one fault")
	flag.Parse()
	if err := run(flag.Args(), *n, *seed, *timeout); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(packages []string, n int, seed uint64, timeout time.Duration) error {
	if len(packages) == 0 {
		return errors.New("want packages, such as ./retry")
	}
	faults, err := collect(packages)
	if err != nil {
		return err
	}
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(faults))
	caught, survived := 0, []fault(nil)
	for _, i := range order {
		if caught+len(survived) == n {
			break
		}
		seen, err := try(faults[i], timeout)
		switch {
		case err != nil:
			return err
		case seen == notBuilt:
			continue
		case seen == survives:
			survived = append(survived, faults[i])
		default:
			caught++
		}
		fmt.Printf("%-8s %v\n", seen, faults[i])
	}
	all := caught + len(survived)
	fmt.Printf("%d of %d faults caught (%.1f %%), of %d that there can be\n", caught, all, 100*float64(caught)/float64(all), len(faults))
	return nil
}

// collect returns every fault of the packages' own files.
func collect(packages []string) (all []fault, err error) {
	for _, dir := range packages {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			faults, err := faultsOf(file, source)
			if err != nil {
				return nil, err
			}
			all = append(all, faults...)
		}
	}
	return all, nil
}

// fate is what becomes of a fault.
type fate string

const (
	notBuilt fate = "no code"
	survives fate = "SURVIVES"
	isCaught fate = "caught"
)

// try runs the tests with the fault: first those of its package, then all of the core.
func try(f fault, timeout time.Duration) (fate, error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := f.overlay(dir)
	if err != nil {
		return "", err
	}
	if goes, err := command(timeout, "build", "-overlay", overlay, "./..."); err != nil || !goes {
		return notBuilt, err
	}
	for _, tests := range []string{"./" + filepath.Dir(f.file), "./..."} {
		passes, err := command(timeout, "test", "-overlay", overlay, "-vet=off", "-failfast", "-timeout", timeout.String(), tests, "-rapid.nofailfile", "-rapid.shrinktime=0s")
		if err != nil || !passes {
			return isCaught, err
		}
	}
	return survives, nil
}

// overlay writes the faulty file, and what tells the compiler of it.
func (f fault) overlay(dir string) (name string, err error) {
	source, err := os.ReadFile(f.file)
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(f.file)
	if err != nil {
		return "", err
	}
	faulty := filepath.Join(dir, "faulty.go")
	if err := os.WriteFile(faulty, f.in(source), 0o600); err != nil {
		return "", err
	}
	said, err := json.Marshal(map[string]any{"Replace": map[string]string{path: faulty}})
	if err != nil {
		return "", err
	}
	name = filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, said, 0o600)
}

// command runs the go command, and reports whether it succeeds.
func command(timeout time.Duration, args ...string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*timeout)
	defer cancel()
	err := exec.CommandContext(ctx, "go", args...).Run()
	if _, failed := errors.AsType[*exec.ExitError](err); failed {
		return false, nil
	}
	return err == nil, err
}

//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// testRole says what the test binary is to be, in place of the tests: dacapo, or a program
// that dacapo runs.
const testRole = "DACAPO_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(testRole) {
	case "dacapo":
		_ = os.Setenv(testRole, "program") // what it runs
		main()
	case "program":
		os.Exit(play(os.Args[1:]))
	}
	hearAgain()
	os.Exit(m.Run())
}

// hearAgain has what the tests start hear of every signal, also where the tests themselves
// began with some of them ignored (under nohup, or behind a shell's &): what a process takes
// is not ignored in its children.
func hearAgain() {
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

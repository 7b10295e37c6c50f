//go:build unix

package main

import (
	"os"
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
	os.Exit(m.Run())
}

package main

import (
	"flag"
	"os"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

var table = flag.String("table", "", "a `file` to write the table of behaviour to")

func TestTheTableOfBehaviourIsAsItWas(t *testing.T) {
	got := behaviour(func(look func()) { synctest.Test(t, func(*testing.T) { look() }) })
	if *table != "" {
		require.NoError(t, os.WriteFile(*table, []byte(got), 0o644))
	}
}

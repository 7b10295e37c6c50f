package main

import (
	"flag"
	"os"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var table = flag.String("table", "", "a `file` to write the table of behaviour to, instead of comparing it: "+goldenTable+" is what it is compared with")

const goldenTable = "testdata/behaviour.md"

func TestTheTableOfBehaviourIsAsItWas(t *testing.T) {
	got := behaviour(func(look func()) { synctest.Test(t, func(*testing.T) { look() }) })
	if *table != "" {
		require.NoError(t, os.WriteFile(*table, []byte(got), 0o644))
		return
	}
	assert.Equal(t, read(t, goldenTable), got)
	assert.Contains(t, read(t, "RESULTS.md"), got, "run go run ./bench")
}

func read(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

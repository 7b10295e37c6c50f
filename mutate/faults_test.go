package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheFaultsOfASource(t *testing.T) {
	source := []byte(`package p

import "x"

func f(a, b int) bool {
	defer g()
	a = 7
	if !g() && a < b {
		a += b
		return true
	}
	return false
}
`)
	faults, err := faultsOf("p.go", source)
	require.NoError(t, err)
	var said []string
	for _, f := range faults {
		said = append(said, f.String())
		assert.Equal(t, f.old, string(source[f.from:f.to]))
	}
	assert.Equal(t, []string{
		`p.go:6: without "defer g()"`,
		`p.go:7: without "a = 7"`,
		`p.go:7: "8" for "7"`,
		`p.go:8: "!(!g() && a < b)" for "!g() && a < b"`,
		`p.go:8: "||" for "&&"`,
		`p.go:8: without "!"`,
		`p.go:8: "<=" for "<"`,
		`p.go:9: "-=" for "+="`,
		`p.go:10: "false" for "true"`,
		`p.go:12: "true" for "false"`,
	}, said)
	assert.Contains(t, string(faults[0].in(source)), "bool {\n\t\n\ta = 7")
}

func TestASourceThatIsNoneIsAnError(t *testing.T) {
	_, err := faultsOf("p.go", []byte("no"))
	assert.Error(t, err)
}

//go:build race

package property_test

// The race detector makes everything ten times slower.
const (
	draws  = 100_000
	checks = "1000"
)

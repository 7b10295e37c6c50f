//go:build race || 386

package property_test

// The race detector makes everything ten times slower, and words of 32 bits the draws.
const (
	draws  = 100_000
	checks = "1000"
)

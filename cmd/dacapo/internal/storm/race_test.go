//go:build race

package storm

// The race detector makes a simulation, which has one goroutine, ten times as slow.
func init() { seeds = seeds[:1] }

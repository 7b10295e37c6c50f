//go:build race

package storm

// The race detector makes a simulation, which has one goroutine, ten times as slow.
func init() { seeds, loads = seeds[:1], loads[:1] }

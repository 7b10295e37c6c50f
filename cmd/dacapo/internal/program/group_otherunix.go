//go:build unix && !linux

package program

import "os"

type process struct{ pid int }

// adopt does nothing: here init reaps what the program leaves behind.
func adopt() <-chan os.Signal { return nil }

func (g *group) reap() {}

// descendants returns the program alone: there is no way known here to find more.
func (g *group) descendants() []process {
	if g.running == 0 {
		return nil
	}
	return []process{{g.running}}
}

package retrytest

import (
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// left lists the goroutines of the latest bubble: what each waits for, where, and where it was
// started. (Rapid wants the same text for the same failure: so no numbers, and in order.)
func left() string {
	var lines []string
	for _, w := range latest() {
		if where, start := w.places(); !strings.HasPrefix(where, "testing.go:") {
			lines = append(lines, fmt.Sprintf("\n\t%s at %s, started at %s", w.what, where, start))
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "")
}

// waiting is a goroutine of a bubble.
type waiting struct{ what, stack string }

var (
	waits = regexp.MustCompile(`^goroutine \d+ \[(.+?)(?: \(durable\))?, .*synctest bubble (\d+)\]:\n`)
	place = regexp.MustCompile(`(?m)^\t(.+:\d+)`)
)

// latest returns the goroutines of the latest bubble: those of earlier ones wait for ever, too.
func latest() (all []waiting) {
	bubble := 0
	for stack := range strings.SplitSeq(stacks(), "\n\n") {
		head := waits.FindStringSubmatch(stack)
		if head == nil {
			continue
		}
		if n, _ := strconv.Atoi(head[2]); n > bubble {
			bubble, all = n, nil
		} else if n < bubble {
			continue
		}
		all = append(all, waiting{head[1], stack})
	}
	return all
}

// places returns where the goroutine waits, and where it was started.
func (w waiting) places() (where, start string) {
	all := place.FindAllStringSubmatch(w.stack, -1)
	if len(all) == 0 {
		return "", ""
	}
	return filepath.Base(all[0][1]), filepath.Base(all[len(all)-1][1])
}

// stacks returns the stacks of all goroutines.
func stacks() string {
	for size := 1 << 16; ; size *= 2 {
		text := make([]byte, size)
		if n := runtime.Stack(text, true); n < size {
			return string(text[:n])
		}
	}
}

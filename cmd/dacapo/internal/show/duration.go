// Package show writes values as people read them.
package show

import (
	"math"
	"strings"
	"time"
)

// Duration returns d in about three digits, without the units that are nought. The longest
// Duration, which stands for all that are longer, is ∞.
func Duration(d time.Duration) string {
	if d == math.MaxInt64 {
		return "∞"
	}
	unit := time.Duration(1)
	for d/1000 >= unit {
		unit *= 10
	}
	if d >= time.Minute {
		unit = time.Second
	}
	if d >= 10*time.Hour {
		unit = time.Minute
	}
	text := d.Round(unit).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// Seconds returns seconds as Duration does.
func Seconds(s float64) string {
	if s >= math.MaxInt64/float64(time.Second) {
		return Duration(math.MaxInt64)
	}
	return Duration(time.Duration(s * float64(time.Second)))
}

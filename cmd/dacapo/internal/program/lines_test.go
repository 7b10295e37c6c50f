package program

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// split is what lines does to a whole text.
func split(text string) (all []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		for len(line) > longestLine {
			all = append(all, strings.TrimSuffix(line[:longestLine], "\r"))
			line = line[longestLine:]
		}
		all = append(all, strings.TrimSuffix(line, "\r"))
	}
	return all
}

func TestLinesAreTheSameHoweverTheyCome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "b", "\n", "\r\n", "\r", strings.Repeat("x", longestLine-1), strings.Repeat("y", longestLine), strings.Repeat("z", 20_000)})
		text := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "text"), "")
		var got []string
		l := &lines{see: func(line []byte) { got = append(got, string(line)) }}
		for rest := text; rest != ""; {
			n := min(len(rest), rapid.SampledFrom([]int{1, 2, 3, 4096, longestLine, longestLine + 1}).Draw(t, "piece"))
			_, _ = l.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		l.close()
		assert.True(t, slices.Equal(split(text), got))
	})
}

func TestRetryAfterIsReadFromALine(t *testing.T) {
	now := time.Date(2026, 10, 21, 7, 27, 0, 0, time.UTC)
	for line, want := range map[string]time.Duration{
		"Retry-After: 120":                           2 * time.Minute,
		"retry-after:0":                              0,
		"< Retry-After: 3":                           3 * time.Second, // curl -v
		"  Retry-After: 1.5 ":                        1500 * time.Millisecond,
		"Retry-After: Wed, 21 Oct 2026 07:28:00 GMT": time.Minute,
		"Retry-After: Wed, 21 Oct 2026 07:26:00 GMT": 0, // gone by
		"Retry-After: 99999999999999999999999999999": math.MaxInt64,
	} {
		wait, ok := retryAfter([]byte(line), now)
		assert.True(t, ok, line)
		assert.Equal(t, want, wait, line)
	}
	for _, line := range []string{"", "Retry-After", "Retry-After:", "Retry-After: soon", "Retry-After: -1", "Retry-After: NaN", "the Retry-After: 5", "> X-Retry-After: 5"} {
		_, ok := retryAfter([]byte(line), now)
		assert.False(t, ok, line)
	}
}

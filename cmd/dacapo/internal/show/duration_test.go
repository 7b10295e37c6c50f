package show

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestADurationHasAboutThreeDigits(t *testing.T) {
	for text, d := range map[string]time.Duration{
		"0s": 0, "7ns": 7, "1.23ms": 1234567, "950ms": 950 * time.Millisecond, "3.04s": 3040 * time.Millisecond, "12.3s": 12345 * time.Millisecond,
		"1m": time.Minute, "2m3s": 2*time.Minute + 3*time.Second + 123, "1h": time.Hour, "1h0m5s": time.Hour + 5*time.Second,
		"27h47m": 100_000 * time.Second, "10h": 10 * time.Hour, "20m": 20 * time.Minute, "∞": math.MaxInt64, "2562047h47m": math.MaxInt64 - 1,
	} {
		assert.Equal(t, text, Duration(d))
	}
}

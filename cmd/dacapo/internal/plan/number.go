package plan

import (
	"math"
	"strconv"
	"time"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/show"
)

// Millis is a duration that JSON has in milliseconds.
type Millis time.Duration

// String returns the duration in about three digits.
func (m Millis) String() string { return show.Duration(time.Duration(m)) }

// Seconds returns the duration in seconds.
func (m Millis) Seconds() float64 { return time.Duration(m).Seconds() }

// MarshalJSON writes milliseconds.
func (m Millis) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(m)/float64(time.Millisecond), 'f', -1, 64), nil
}

// MarshalJSON writes four digits.
func (n Number) MarshalJSON() ([]byte, error) { return []byte(n.String()), nil }

// String returns the number in four digits.
func (n Number) String() string { return strconv.FormatFloat(n.round(4), 'f', -1, 64) }

// Percent returns a part in per cent, in three digits, and 100% only if it is all (or so near that the difference is rounding).
func (n Number) Percent() string {
	text := strconv.FormatFloat(Number(100*n).round(3), 'f', -1, 64)
	if text == "100" && n < 1-1e-12 {
		return ">99.9%"
	}
	return text + "%"
}

func (n Number) round(digits int) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(float64(n), 'g', digits, 64), 64)
	if math.Abs(v) < 1e-9 {
		return 0
	}
	return v
}

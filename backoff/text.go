package backoff

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// String returns the strategy as text that [Parse] reads, such as
// exp(100ms,2).cap(5s).jitter(full). A [Func] shows as func, which Parse does
// not read.
func (s Strategy) String() string {
	var b strings.Builder
	s.write(&b)
	return b.String()
}

// MarshalText returns the text of String. A strategy with a fault, or with a
// [Func] in it, has none: that is an error.
func (s Strategy) MarshalText() ([]byte, error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	if s.opaque {
		return nil, errors.New("backoff: a Func has no text: want another curve, or to set it in the program")
	}
	return []byte(s.String()), nil
}

// UnmarshalText sets the strategy to what [Parse] reads, and leaves it as it is
// where that is an error.
func (s *Strategy) UnmarshalText(text []byte) error {
	read, err := Parse(string(text))
	if err == nil {
		*s = read
	}
	return err
}

// write writes the curve and then the settings.
func (s *Strategy) write(b *strings.Builder) {
	switch s.curve {
	case then:
		s.more.head.write(b)
		b.WriteString(".then(" + strconv.Itoa(s.more.waits) + ",")
		s.more.tail.write(b)
		b.WriteByte(')')
	case none, function:
		b.WriteString(s.curve.word())
	case list:
		b.WriteString("list(")
		for i, d := range s.more.list {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(duration(d))
		}
		b.WriteByte(')')
	default:
		b.WriteString(s.curve.word() + "(" + duration(s.first))
		switch s.curve {
		case linear:
			b.WriteString("," + duration(time.Duration(s.arg)))
		case exponential:
			b.WriteString("," + strconv.FormatFloat(math.Float64frombits(s.arg), 'g', -1, 64))
		}
		b.WriteByte(')')
	}
	s.writeSettings(b)
}

func (s *Strategy) writeSettings(b *strings.Builder) {
	if s.room != 0 {
		b.WriteString(".cap(" + duration(s.capped()) + ")")
	}
	if s.more != nil && s.more.floor != 0 {
		b.WriteString(".floor(" + duration(s.more.floor) + ")")
	}
	spreading{s.jitter, s.spread}.write(b)
	if s.more != nil {
		for _, j := range s.more.second {
			j.write(b)
		}
	}
}

func (j spreading) write(b *strings.Builder) {
	switch j.jitter {
	case noJitter, inBuilt:
		return
	case full, equal:
		b.WriteString(".jitter(" + j.jitter.word())
	case proportional:
		b.WriteString(".jitter(" + percent(math.Float64frombits(uint64(-j.spread))))
	case additive:
		b.WriteString(".jitter(+" + duration(time.Duration(j.spread)))
	case spring:
		b.WriteString(".jitter(" + j.jitter.word() + "," + duration(time.Duration(j.spread)))
	}
	b.WriteByte(')')
}

// duration returns d as time.Duration does, without the zeros at its end: 1m, not 1m0s.
func duration(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// percent returns x times 100 in the fewest digits that [fraction] reads back as x.
func percent(x float64) string {
	if !(x > 0 && x <= 1) { // 0, or a fault
		return strconv.FormatFloat(100*x+0, 'g', -1, 64) + "%"
	}
	text, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
	power, _ := strconv.Atoi(exponent)
	digits := strings.Replace(text, ".", "", 1)
	switch point := power + 3; { // how many digits stand before the point
	case point < -6:
		return text + "e" + strconv.Itoa(power+2) + "%"
	case point <= 0:
		return "0." + strings.Repeat("0", -point) + digits + "%"
	case point >= len(digits):
		return digits + strings.Repeat("0", point-len(digits)) + "%"
	default:
		return digits[:point] + "." + digits[point:] + "%"
	}
}

// fraction reads a number and divides it by 100, as decimals.
func fraction(text string) (float64, error) {
	digits, exponent, has := strings.Cut(text, "e")
	power := 0
	if has {
		var err error
		if power, err = strconv.Atoi(exponent); err != nil {
			return 0, err
		}
	}
	return strconv.ParseFloat(digits+"e"+strconv.Itoa(power-2), 64)
}

// curveWords are the names of the curves in text; a joined strategy has none.
var curveWords = map[string]curve{
	"none": none, "constant": constant, "linear": linear, "exp": exponential, "fibonacci": fibonacci,
	"decorrelated": decorrelated, "list": list, "func": function,
}

func (c curve) word() string {
	for word, curve := range curveWords {
		if curve == c {
			return word
		}
	}
	return "then"
}

func (j jitter) word() string {
	return [...]string{full: "full", equal: "equal", spring: "spring"}[j]
}
